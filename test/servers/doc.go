// Package servers starts the real servers that tests run against: MariaDB, Redis (single, Cluster,
// Sentinel), Prometheus, VictoriaMetrics and a TCP proxy that breaks connections on demand.
//
// It promises that every server listens on loopback only, on a port outside the range the kernel
// hands to outgoing connections, has its own data directory, and is gone with that directory
// when the test (or, for shared ones, the test process) ends, however it ends. Every start is
// logged and, when TOOLBOUNDARY_TEST_REPORT names a file, appended to it, so that a test run can
// say which real servers it used.
//
// It does not skip tests: a server that cannot be started fails the test with one sentence that
// says what to install.
//
// TOOLBOUNDARY_TEST_MYSQL_DSN (an administrator's DSN) and TOOLBOUNDARY_TEST_REDIS_ADDR (host:port)
// name servers to use instead of starting one. Such a server cannot be stopped, paused or given
// options; a test that needs one of these starts its own.
package servers

// Package mysql is the tool mysql_query: guarded statements on MySQL and MariaDB.
//
// What it promises: a statement runs on a session that was pinned once (utf8mb4, UTC, a known
// sql_mode, read only, a time limit on the server) and read back; it is stopped on the server
// when its context or its time ends, and a session that saw that is never used again; rows
// stream into a bounded buffer, and reading stops at the limit without draining. Waiting for a
// free session (DATA_SOURCE_BUSY), not connecting (DATA_SOURCE_UNAVAILABLE) and running too long
// (EXECUTION_TIMEOUT) differ.
//
// What it refuses: it sends no statement that sqlguard did not print, and none of the driver's
// or the server's words leave it. Errors carry a code, a reason of a closed table and fixed
// sentences; logs carry the data source's id and the server's error numbers.
//
// A data source connects when it is first used, so one that is down stops nothing else.
//
// Where to find what:
//
//	executor.go           the agent's path: a request is judged, then executed on one data source
//	execute.go            one statement on one session: sent, streamed, stopped at its limits
//	values.go             the server's values as JSON, as docs/values.md shows them
//	warnings.go           what warnings mean for an answer; written.go: the values that the agent wrote
//	sqlguard/             SQL text → plan: the guard, which touches no network
//	server/pool.go        the bounded pool of sessions of one server and account
//	server/source.go      its configuration
//	server/connector.go   dialling and logging in
//	server/session.go     a pinned session; statements of the service
//	server/account.go     what the account may do besides reading
//	server/kill.go        stopping a statement on the server, and seeing whether it runs
//	server/driver.go      what the server tells and the driver keeps to itself
//	server/pin.go         the settings that change answers, pinned and read back
//	server/warnings.go    a statement's warnings, read only where there are any
//	server/wire.go        the TCP connection: bounded, and cut from another goroutine
//	server/errors.go      why no session could be opened
//	server/reasons.go     why a statement failed: error numbers → codes and reasons
//	operator/             the operator's half: inspect, ask, prove; agents never reach it
//	allowlist/            drafting an allowlist, comparing it with the database, grants
//	schematool/           the tool mysql_schema: the allowlist, step by step
package mysql

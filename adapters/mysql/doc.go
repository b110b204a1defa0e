// Package mysql runs guarded statements on MySQL and MariaDB: the tool mysql_query and the
// data sources behind it.
//
// What it promises: a statement runs on a session that was pinned once (utf8mb4, UTC, a known
// sql_mode, read only, a time limit of the server's own) and read back; it is stopped on the
// server when its context or its time ends, and a session that saw that is never used again;
// rows stream into a bounded buffer and reading stops at the limit without draining. Waiting
// for a free session (DATA_SOURCE_BUSY), not connecting (DATA_SOURCE_UNAVAILABLE) and running
// too long (EXECUTION_TIMEOUT) differ.
//
// What it refuses: it sends no statement that sqlguard did not print, and no word of the
// driver or the server leaves it. Errors carry a code, a reason of a closed table and fixed
// sentences; logs carry the data source's id and the server's error numbers.
//
// A data source connects when it is first used, so one that is down stops nothing else.
package mysql

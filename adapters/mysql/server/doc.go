// Package server keeps pinned sessions on one MySQL or MariaDB server: what mysql_query and the
// operator's commands share.
//
// A session is pinned before it is lent: character set, time zone, sql_mode, read-only
// transactions and a time limit are set, then read back. Statements are stopped on the server
// over connections kept for that purpose. Errors become faults here; the driver's and the
// server's words go no further.
package server

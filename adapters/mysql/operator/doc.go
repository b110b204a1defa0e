// Package operator asks a MySQL or MariaDB server what its operator wants to know: what the
// server is, what the account may do, whether the service's promises hold there, and the answer
// to one statement of the operator.
//
// The statements run on the same pinned, read-only sessions as those of agents, which never
// reach this package: mysql_query does not import it. Errors carry codes, reasons and the
// server's error numbers, and none of the server's words.
package operator

package server

import (
	"context"
	"strconv"
)

// Warning is one warning of the server.
type Warning struct {
	Number uint16
	// Text is the server's own: it may hold values, and leaves this service nowhere.
	Text string
}

// warningBytes is more than the list of a statement's warnings takes.
const warningBytes = 1 << 20

// Warnings returns the warnings of the statement whose last row was read just now, and whether those
// are all of them: a server keeps the first ones. It takes a round trip only if there are any. Notes
// are not warnings. An error is the driver's: see [Fault].
func (s *Session) Warnings(ctx context.Context) (list []Warning, all bool, err error) {
	n, known := 0, false
	if s.tail != nil {
		n, known = s.tail.warnings()
	}
	if known && n == 0 {
		return nil, true, nil
	}
	s.Allow(warningBytes)
	rows, err := s.Texts(ctx, "SHOW WARNINGS")
	if err != nil {
		return nil, false, err
	}
	all = len(rows) < listed
	if known {
		all = len(rows) >= n
	}
	for _, row := range rows {
		if len(row) != 3 {
			return nil, false, errUnexpected
		}
		number, err := strconv.ParseUint(row[1], 10, 16)
		if err != nil {
			return nil, false, errUnexpected
		}
		if row[0] != "Note" {
			list = append(list, Warning{uint16(number), row[2]})
		}
	}
	return list, all, nil
}

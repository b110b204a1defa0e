package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is a session variable that is pinned: as SQL writes its value, and as the server shows it.
type setting struct{ name, value, shown string }

// listed is the most warnings of a statement that a server keeps, and that are read.
const listed = 1024

// settings returns the variables that change what a statement answers, and those with which it is
// judged: the same on every server, whatever its configuration and its init_connect say.
func (s *Session) settings(limit time.Duration) []setting {
	// A lock is waited for a little less long than the statement may run, so that it is told apart.
	lock := strconv.Itoa(max(int(limit/time.Second)-1, 1))
	return append([]setting{
		{"autocommit", "1", "1"}, {"time_zone", "'+00:00'", "+00:00"},
		{"div_precision_increment", "4", "4"}, {"lc_time_names", "'en_US'", "en_US"},
		{"default_week_format", "0", "0"}, {"sql_auto_is_null", "0", "0"},
		{"group_concat_max_len", "1048576", "1048576"},
		{"sql_select_limit", "9223372036854775807", "9223372036854775807"},
		{"sql_notes", "0", "0"}, {"lc_messages", "'en_US'", "en_US"},
		{"max_error_count", strconv.Itoa(listed), strconv.Itoa(listed)},
		{"lock_wait_timeout", lock, lock},
	}, s.flavour.settings...)
}

// pin makes the session what the guard's statements assume, and reads it back.
func (s *Session) pin(ctx context.Context, limit time.Duration, extraModes []string) error {
	s.modes = append(slices.Clone(s.modes), extraModes...)
	text := fmt.Sprintf("SET SESSION sql_mode = '%s', %s = %s", strings.Join(s.modes, ","), s.timeLimit, s.limitText(limit))
	for _, v := range s.settings(limit) {
		text += ", " + v.name + " = " + v.value
	}
	for _, step := range []struct{ name, text string }{
		{"charset", "SET NAMES utf8mb4"},
		{"variables", text},
		{"transactions", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"},
	} {
		if err := s.Exec(ctx, step.text); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	s.limit = limit
	return s.verify(ctx, s.settings(limit))
}

// verify reads the pinned state back: it finds a proxy, an init_connect or an engine that accepts
// settings and forgets them.
func (s *Session) verify(ctx context.Context, settings []setting) error {
	settings = append(settings,
		setting{name: s.readOnly, shown: "1"}, setting{name: s.isolation, shown: "REPEATABLE-READ"},
		setting{name: "character_set_client", shown: "utf8mb4"}, setting{name: "character_set_connection", shown: "utf8mb4"},
		setting{name: "character_set_results", shown: "utf8mb4"})
	text := "SELECT @@sql_mode, @@" + s.timeLimit
	for _, v := range settings {
		text += ", @@" + v.name
	}
	row, err := s.row(ctx, text, len(settings)+2)
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	if !sameSet(strings.Split(row[0], ","), s.modes) {
		return fmt.Errorf("sql_mode: %w", errUnexpected)
	}
	got, err := strconv.ParseFloat(row[1], 64)
	want, _ := strconv.ParseFloat(s.limitText(s.limit), 64)
	if err != nil || got != want {
		return fmt.Errorf("time limit: %w", errUnexpected)
	}
	for i, v := range settings {
		if row[i+2] != v.shown {
			return fmt.Errorf("%s: %w", v.name, errUnexpected)
		}
	}
	return nil
}

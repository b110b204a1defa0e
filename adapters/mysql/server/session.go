package server

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Session is a pinned connection: everything that a statement relies on was set once and read
// back. database/sql keeps it in a pool; statements run on the driver's own interfaces, where a
// row's bytes are not copied and nothing is drained without being asked for.
type Session struct {
	driver.Conn
	pool *Pool
	wire *wire
	// tail is nil where the driver does not let itself be followed.
	tail *tail
	// id is the server's connection id.
	id uint64
	// server tells servers behind one address apart: a KILL must not reach another one.
	server string
	flavour
	version string
	// limit is the time limit that the server has now.
	limit time.Duration
}

var (
	_ driver.SessionResetter = (*Session)(nil)
	_ driver.Validator       = (*Session)(nil)
)

// flavour is how a product spells what differs between products.
type flavour struct {
	product string
	// timeLimit is the session variable of the server's time limit, counted in unit.
	timeLimit string
	unit      time.Duration
	// readOnly and isolation are the variables that tell how transactions run.
	readOnly, isolation string
	modes               []string
	// settings are pinned on this product only.
	settings []setting
}

const (
	productMariaDB = "MariaDB"
	productMySQL   = "MySQL"
)

// flavourOf recognises MariaDB by its version. MariaDB's ONLY_FULL_GROUP_BY refuses a very common
// query (a name beside a grouped primary key), so only MySQL gets it.
func flavourOf(version string) flavour {
	modes := []string{"STRICT_TRANS_TABLES", "ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION"}
	if strings.Contains(version, productMariaDB) {
		return flavour{
			productMariaDB, "max_statement_time", time.Second, "tx_read_only", "tx_isolation", modes,
			[]setting{{"old_mode", "''", ""}, {"default_regex_flags", "''", ""}, {"system_versioning_asof", "DEFAULT", "DEFAULT"}},
		}
	}
	modes = append(modes, "ONLY_FULL_GROUP_BY")
	return flavour{
		productMySQL, "max_execution_time", time.Millisecond, "transaction_read_only", "transaction_isolation", modes, nil,
	}
}

// limitText writes d in the variable's unit, never as zero, which would mean no limit.
func (f flavour) limitText(d time.Duration) string {
	if f.unit == time.Second {
		return strconv.FormatFloat(max(d, time.Millisecond).Seconds(), 'f', 3, 64)
	}
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10)
}

// DataSource returns the id of the data source that the session reads.
func (s *Session) DataSource() string { return s.pool.source.ID }

// Product returns MariaDB or MySQL.
func (s *Session) Product() string { return s.product }

// Version returns the version as the server writes it.
func (s *Session) Version() string { return s.version }

// QueryTimeout bounds each statement.
func (s *Session) QueryTimeout() time.Duration { return s.pool.source.QueryTimeout }

// KillTimeout bounds the stop of a statement on the server.
func (s *Session) KillTimeout() time.Duration { return s.pool.options.KillTimeout }

// Allow sets how many bytes may still be read from the server.
func (s *Session) Allow(n int64) { s.wire.left.Store(n) }

// Flooded reports whether the server sent more than [Session.Allow] had allowed.
func (s *Session) Flooded() bool { return s.wire.flooded.Load() }

// Cut closes the connection at once, from any goroutine; unread bytes make the server see a
// reset. The session cannot be used again.
func (s *Session) Cut() { _ = s.wire.Close() }

// identify asks which server this is, and which connection on it.
func (s *Session) identify(ctx context.Context) error {
	row, err := s.row(ctx, "SELECT VERSION(), CONNECTION_ID()", 2)
	if err != nil {
		return fmt.Errorf("identify: %w", err)
	}
	s.version, s.flavour = row[0], flavourOf(row[0])
	if s.id, err = strconv.ParseUint(row[1], 10, 64); err != nil {
		return fmt.Errorf("identify: %w", errUnexpected)
	}
	// An engine without these variables is one process, not several behind an address.
	if row, err = s.row(ctx, "SELECT @@hostname, @@port, @@server_id", 3); err == nil {
		s.server = strings.Join(row, " ")
	} else if !saidByServer(err) {
		return fmt.Errorf("identify: %w", err)
	}
	return nil
}

var errUnexpected = errors.New("the server did not answer as expected")

func sameSet(a, b []string) bool {
	a, b = slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b)))
	return slices.Equal(a, b)
}

// SetLimit sets the server's time limit for a statement; it does nothing when the limit is in
// force already. An error that the server did not send is [ErrStale].
func (s *Session) SetLimit(ctx context.Context, d time.Duration) error {
	if d == s.limit {
		return nil
	}
	if err := s.Exec(ctx, "SET SESSION "+s.timeLimit+" = "+s.limitText(d)); err != nil {
		return StaleUnlessSaid(err)
	}
	s.limit = d
	return nil
}

// ResetSession lets the driver notice a connection that the server has closed; it takes no round
// trip.
func (s *Session) ResetSession(ctx context.Context) error {
	if r, ok := s.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid reports whether the session may go back to its pool.
func (s *Session) IsValid() bool {
	v, ok := s.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// Exec runs a statement of the service. Its error is the driver's: see [Fault].
func (s *Session) Exec(ctx context.Context, text string) error {
	_, err := s.Conn.(driver.ExecerContext).ExecContext(ctx, text, nil)
	return err
}

// row runs a statement of the service and returns its one row as text.
func (s *Session) row(ctx context.Context, text string, width int) ([]string, error) {
	rows, err := s.Texts(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || len(rows[0]) != width {
		return nil, errUnexpected
	}
	return rows[0], nil
}

// Texts runs a statement of the service and returns its rows as text, NULL as "". Its error is
// the driver's: see [Fault].
func (s *Session) Texts(ctx context.Context, text string) ([][]string, error) {
	rows, err := s.Conn.(driver.QueryerContext).QueryContext(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]string
	dest := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(dest); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		line := make([]string, len(dest))
		for i, v := range dest {
			switch v := v.(type) {
			case nil:
			case []byte:
				line[i] = string(v)
			default:
				line[i] = fmt.Sprint(v)
			}
		}
		out = append(out, line)
	}
}

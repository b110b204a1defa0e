package server

import (
	"database/sql/driver"
	"encoding/binary"
	"net"
	"reflect"
	"unsafe"
)

// What follows is told by the server and kept by the driver to itself. It is looked for by name, so
// a driver that keeps it elsewhere is noticed, by the package's tests and while it runs, and never
// misread.

// FlagBinary is the flag of a column that the server computed: one of a type that it would send as
// bytes, such as BIT, comes as digits.
const FlagBinary = 1 << 7

// ColumnFlags returns the protocol's flags of each column of a result, or nil where the driver does
// not have them.
func ColumnFlags(rows driver.Rows) []uint16 {
	v := reflect.ValueOf(rows)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	set := v.Elem().FieldByName("rs")
	if set.Kind() != reflect.Struct {
		return nil
	}
	columns := set.FieldByName("columns")
	if columns.Kind() != reflect.Slice || columns.Type().Elem().Kind() != reflect.Struct {
		return nil
	}
	out := make([]uint16, columns.Len())
	for i := range out {
		flags := columns.Index(i).FieldByName("flags")
		if flags.Kind() != reflect.Uint16 {
			return nil
		}
		out[i] = uint16(flags.Uint())
	}
	return out
}

// tail keeps the last bytes that a session read, after TLS: those of the packet that ends a
// statement's rows, in which the server counts its warnings. The driver passes over that count, and
// asking for it would be another round trip for every call.
type tail struct {
	net.Conn
	last [tailBytes]byte
}

// A packet that ends rows has a head of four bytes, the byte endOfRows, and either the counts of
// warnings and status, or two empty counts, status and warnings.
const (
	tailBytes = 4 + 7
	endOfRows = 0xfe
)

// Read reads, and keeps the last bytes.
func (t *tail) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if n >= tailBytes {
		copy(t.last[:], p[n-tailBytes:n])
	} else if n > 0 {
		copy(t.last[:], t.last[n:])
		copy(t.last[tailBytes-n:], p[:n])
	}
	return n, err
}

// warnings returns how many warnings a statement has whose rows have just ended.
func (t *tail) warnings() (n int, known bool) {
	switch b := t.last[:]; {
	case b[0] == 7 && b[1] == 0 && b[2] == 0 && b[4] == endOfRows && b[5] == 0 && b[6] == 0:
		return int(binary.LittleEndian.Uint16(b[9:])), true
	case b[2] == 5 && b[3] == 0 && b[4] == 0 && b[6] == endOfRows:
		return int(binary.LittleEndian.Uint16(b[7:])), true
	}
	return 0, false
}

// follow puts a tail between a driver's connection and the network, or returns nil where the driver
// keeps its network connection elsewhere.
func follow(conn driver.Conn) *tail {
	v := reflect.ValueOf(conn)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	field := v.Elem().FieldByName("netConn")
	if !field.IsValid() || field.Type() != reflect.TypeFor[net.Conn]() || field.IsNil() {
		return nil
	}
	at := (*net.Conn)(unsafe.Pointer(field.UnsafeAddr()))
	t := &tail{Conn: *at}
	*at = t
	return t
}

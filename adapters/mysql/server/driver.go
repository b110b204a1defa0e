package server

import (
	"database/sql/driver"
	"reflect"
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

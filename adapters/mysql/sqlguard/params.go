package sqlguard

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Param is one value for a placeholder: NULL, a boolean, a string or a number. The zero Param is NULL.
type Param struct {
	value  any // nil, bool, string, int64, uint64 or float64: what the driver is given
	count  bool
	number bool // value is a number, also where it is a string
}

// StringParam is a text value.
func StringParam(s string) Param { return Param{value: s} }

// BoolParam is a boolean.
func BoolParam(b bool) Param { return Param{value: b} }

// IntParam is an integer.
func IntParam(i int64) Param { return Param{value: i, count: i >= 0} }

// NumberParam reads a number as JSON writes it. Integers stay exact: within 64 bits they are bound as integers.
// A fraction is bound as a double when that keeps its decimal value (15 significant digits). Beyond, a number is
// written into the statement as a literal: bound as a text it would be compared as one.
func NumberParam(text string) (Param, error) {
	digits := 0
	for i := range len(text) {
		if text[i] >= '0' && text[i] <= '9' {
			digits++
		}
	}
	if digits == 0 || !json.Valid([]byte(text)) {
		return Param{}, &Rejection{ReasonParamType, "a number is written as in JSON"}
	}
	if digits > maxDigits {
		return Param{}, &Rejection{ReasonLimit, "a number may have at most 66 digits"}
	}
	if !strings.ContainsAny(text, ".eE") {
		return integerParam(text), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return Param{}, &Rejection{ReasonParamType, "the number is out of range"}
	}
	if strings.ContainsAny(text, "eE") || digits <= 15 {
		return Param{value: f}, nil
	}
	return Param{value: text, number: true}, nil
}

func integerParam(text string) Param {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return IntParam(i)
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return Param{value: u, count: true}
	}
	return Param{value: text, number: true}
}

// ParamsFromJSON reads the elements of a JSON array of strings, numbers, booleans and nulls. The error is a *Rejection.
func ParamsFromJSON(raw []json.RawMessage) ([]Param, error) {
	params := make([]Param, len(raw))
	for i, r := range raw {
		p, err := ParamFromJSON(r)
		if err != nil {
			return nil, err
		}
		params[i] = p
	}
	return params, nil
}

// ParamFromJSON reads one JSON string, number, boolean or null. The error is a *Rejection.
func ParamFromJSON(raw json.RawMessage) (Param, error) {
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "null":
		return Param{}, nil
	case text == "true" || text == "false":
		return BoolParam(text == "true"), nil
	case strings.HasPrefix(text, `"`):
		var s string
		if json.Unmarshal(raw, &s) != nil || !utf8.ValidString(text) {
			return Param{}, &Rejection{ReasonParamType, "a parameter is not a valid string"}
		}
		return StringParam(s), nil
	case text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9'):
		return NumberParam(text)
	}
	return Param{}, &Rejection{ReasonParamType, "parameters may be strings, numbers, booleans and null only"}
}

// digits is the number of a parameter that the driver would have to bind as a text, in which a server sees a text to
// compare with texts: a number beyond 64 bits or of more digits than a double keeps.
func (p Param) digits() (string, bool) {
	text, ok := p.value.(string)
	return text, ok && p.number
}

// rowCount is the value as a LIMIT or OFFSET: a non-negative integer that fits 64 bits.
func (p Param) rowCount() (uint64, bool) {
	switch v := p.value.(type) {
	case int64:
		return uint64(max(v, 0)), p.count
	case uint64:
		return v, p.count
	}
	return 0, false
}

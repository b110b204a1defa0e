package application

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/limits"
)

// checkObject returns REQUEST_INVALID unless the bytes are exactly one JSON object in valid
// UTF-8, without duplicate member names at any level, nested at most limits.MaxDepth deep (S03).
func checkObject(request []byte) error {
	if kind := jsontext.Value(request).Kind(); kind != '{' {
		return fault.Because(fault.RequestInvalid, "NOT_AN_OBJECT", "the request must be one JSON object")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(request))
	for {
		_, err := dec.ReadToken()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return invalidAt(dec, "DUPLICATE_MEMBER", "duplicate member name")
		case err != nil:
			return invalidAt(dec, "JSON", "the request is not valid JSON in UTF-8")
		case dec.StackDepth() > limits.MaxDepth:
			return invalidAt(dec, "NESTING", fmt.Sprintf("the request nests deeper than %d levels", limits.MaxDepth))
		case dec.StackDepth() == 0 && len(bytes.TrimLeft(request[dec.InputOffset():], " \t\r\n")) > 0:
			return invalidAt(dec, "TRAILING_DATA", "something follows the request's object")
		}
	}
}

func invalidAt(dec *jsontext.Decoder, reason, sentence string) error {
	return fault.Because(fault.RequestInvalid, reason, fmt.Sprintf("%s, at byte %d", sentence, dec.InputOffset()))
}

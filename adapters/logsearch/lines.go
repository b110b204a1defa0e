package logsearch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// readSize is how much is read at once: the search looks whether it must stop between reads.
const readSize = 64 << 10

// examined is how many bytes of a line are examined. Of those, an answer shows at most max_line.
const examined = 1 << 20

// mark is a byte order mark in UTF-8. Files that were put together have it in the middle, too.
var mark = []byte("\xef\xbb\xbf")

// zeros is what copytruncate leaves before the first line: gigabytes of it are compared quickly.
var zeros [readSize]byte

// lineReader reads lines of a bounded length.
type lineReader struct {
	r    *bufio.Reader
	most int
	// read counts the bytes of the lines, also those that are passed over.
	read int64
	// joined holds a line that the buffer of r is too small for.
	joined []byte
}

// next returns the next line without its end and without NULs and a byte order mark before it, in
// memory that the call after it reuses, whether it was cut, and io.EOF after the last one.
func (l *lineReader) next() (line []byte, cut bool, err error) {
	l.joined = l.joined[:0]
	begun := false
	for {
		part, err := l.r.ReadSlice('\n')
		l.read += int64(len(part))
		more := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case err == io.EOF && len(part) == 0 && !begun:
			return nil, false, io.EOF
		case err != nil && err != io.EOF && !more:
			return nil, false, err
		}
		begun = true
		if len(l.joined) == 0 {
			part = withoutZeros(part)
		}
		if !more && len(l.joined) == 0 && len(part) <= l.most {
			return bytes.TrimPrefix(withoutEnd(part), mark), false, nil
		}
		room := l.most + len("\r\n") - len(l.joined) // a line of exactly most bytes is whole
		l.joined = slices.Grow(l.joined, room)
		l.joined = append(l.joined, part[:min(len(part), room)]...)
		if !more {
			line = withoutEnd(l.joined)
			if len(line) > l.most {
				line, cut = line[:l.most], true
			}
			return bytes.TrimPrefix(line, mark), cut, nil
		}
	}
}

func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// withoutZeros returns the line without NULs before it.
func withoutZeros(part []byte) []byte {
	if len(part) == 0 || part[0] != 0 {
		return part
	}
	for len(part) >= len(zeros) && bytes.Equal(part[:len(zeros)], zeros[:]) {
		part = part[len(zeros):]
	}
	return bytes.TrimLeft(part, "\x00")
}

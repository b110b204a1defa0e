package logsearch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
)

// readSize is how much is read at once: the search looks whether it must stop between reads.
const readSize = 64 << 10

// lineReader reads lines of a bounded length.
type lineReader struct {
	r    *bufio.Reader
	most int
	// read counts the bytes of the lines, also those that are passed over.
	read int64
}

// newLineReader reads the file as it is long now; a writer can keep it growing for ever.
func newLineReader(ctx context.Context, f file, most int) (*lineReader, error) {
	var r io.Reader = &stoppable{ctx, io.LimitReader(f, f.info.Size())}
	if strings.HasSuffix(f.name, ".gz") {
		z, err := gzip.NewReader(bufio.NewReaderSize(r, readSize))
		if err != nil {
			return nil, err
		}
		r = &stoppable{ctx, z} // a little of it can inflate to much
	}
	return &lineReader{r: bufio.NewReaderSize(r, max(readSize, most+1)), most: most}, nil
}

// next returns the next line without its end, in memory that the call after it reuses, whether
// it was cut, and io.EOF after the last one.
func (l *lineReader) next() (line []byte, cut bool, err error) {
	line, err = l.r.ReadSlice('\n')
	l.read += int64(len(line))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
	case err == io.EOF && len(line) == 0:
		return nil, false, io.EOF
	case err != nil && err != io.EOF:
		return nil, false, err
	default:
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) <= l.most {
			return line, false, nil
		}
		return line[:l.most], true, nil
	}
	head := bytes.Clone(line[:l.most])
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.r.ReadSlice('\n')
		l.read += int64(len(line))
	}
	if err != nil && err != io.EOF {
		return nil, false, err
	}
	return head, true, nil
}

// stoppable is a reader that ends with its context.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

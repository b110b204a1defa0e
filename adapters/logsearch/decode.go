package logsearch

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
	"golang.org/x/text/encoding/unicode"
)

// window is the largest dictionary or window that a compressed file may ask for: that of xz -9.
const window = 64 << 20

// The reasons why a file is not read as lines of text. They are kept for the operator.
var (
	errNotText    = errors.New("not text")
	errCompressed = errors.New("compressed in a way that is not read")
	errShrank     = errors.New("cut short while it was read")
	errUnpacked   = errors.New("unpacks to more than max_unpacked")
)

// compression is one that is known by how its files begin.
type compression struct {
	begins string
	open   func(io.Reader) (io.ReadCloser, error)
}

var compressions = []compression{
	{"\x1f\x8b", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"\xfd7zXZ\x00", openXZ},
	{"BZh", func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }},
	{"\x28\xb5\x2f\xfd", openZstd},
	{"\x50\x2a\x4d\x18", openZstd}, // a frame to skip: pzstd begins with one
}

func openXZ(r io.Reader) (io.ReadCloser, error) {
	z, err := xz.NewReader(r, window)
	return io.NopCloser(z), err
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// others are how files begin that hold something other than lines, and might not hold a NUL early on.
var others = []string{
	"PK\x03\x04", "Rar!\x1a\x07", "7z\xbc\xaf\x27\x1c", "\x04\x22\x4d\x18", "\x1f\x9d", "\x1f\xa0", "LZIP\x01",
	"\x89LZO\x00", "\x89PNG\r\n", "\xff\x06\x00\x00sNaPpY", "\x5d\x00\x00", "\x7fELF", "LPKSHHRH", "%PDF-",
}

// packed are the endings of compressed files. A file of such a name that is not compressed in a known
// way is not taken for text: brotli, for one, has no beginning to know it by.
var packed = []string{".gz", ".xz", ".bz2", ".zst", ".zstd", ".lz4", ".br", ".lzma", ".lz", ".lzo", ".z", ".zip", ".7z", ".sz"}

// content is the text of one file.
type content struct {
	*bufio.Reader
	// raw counts the bytes of the file that were read, of size.
	raw   *counted
	size  int64
	close func()
}

// decode returns the file's text in UTF-8, as far as it is written now: a writer can keep it growing
// for ever. Compressed files are known by how they begin.
func (s *source) decode(ctx context.Context, f file) (*content, error) {
	c := &content{raw: &counted{Reader: &stoppable{ctx, io.LimitReader(f, f.info.Size())}}, size: f.info.Size(), close: func() {}}
	c.Reader = bufio.NewReaderSize(c.raw, readSize)
	head, err := c.head()
	if err != nil {
		return nil, err
	}
	known := slices.IndexFunc(compressions, func(k compression) bool { return begins(head, k.begins) })
	switch {
	case known >= 0:
		if err := c.unpack(ctx, compressions[known].open, s.MaxUnpacked); err != nil {
			return nil, err
		}
	case slices.Contains(packed, strings.ToLower(path.Ext(f.name))):
		return nil, errCompressed
	}
	if err := c.text(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// unpack reads what the compressed file holds, up to most bytes.
func (c *content) unpack(ctx context.Context, open func(io.Reader) (io.ReadCloser, error), most int64) error {
	z, err := open(c.Reader)
	if err != nil {
		return err
	}
	c.close = func() { z.Close() }
	// A little of a file can unpack to much: the search must be able to stop in between.
	c.Reader = bufio.NewReaderSize(&stoppable{ctx, &bounded{z, most}}, readSize)
	return nil
}

// text passes over a byte order mark, decodes UTF-16, and refuses what is not text.
func (c *content) text() error {
	head, err := c.head()
	if err != nil {
		return err
	}
	switch {
	case begins(head, "\xff\xfe\x00\x00"): // UTF-32
		return errNotText
	case begins(head, "\xff\xfe"), begins(head, "\xfe\xff"):
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		c.Reader = bufio.NewReaderSize(utf16.Reader(c.Reader), readSize)
		return nil
	}
	for _, b := range others {
		if begins(head, b) {
			return errNotText
		}
	}
	for _, k := range compressions { // twice
		if begins(head, k.begins) {
			return errCompressed
		}
	}
	if controls(head) > maxControls {
		return errNotText
	}
	return nil
}

// whole returns an error when the file became shorter than it was: what was in it is elsewhere now.
func (c *content) whole() error {
	if c.raw.n < c.size {
		return errShrank
	}
	return nil
}

// head returns how the text begins, without reading it.
func (c *content) head() ([]byte, error) {
	head, err := c.Peek(4 << 10)
	if err == io.EOF {
		err = nil
	}
	return head, err
}

// begins reports whether a file begins with the bytes, as far as it goes. The third byte of bzip2 is
// followed by a digit: a text may begin with BZh, but then hardly goes on like that.
func begins(head []byte, with string) bool {
	if with == "BZh" {
		return len(head) > 4 && bytes.HasPrefix(head, []byte(with)) && '1' <= head[3] && head[3] <= '9' &&
			(head[4] == 0x31 || head[4] == 0x17)
	}
	if with == "\x50\x2a\x4d\x18" { // its first byte is any from 50 to 5F
		return len(head) > 3 && head[0]>>4 == 5 && bytes.HasPrefix(head[1:], []byte(with[1:]))
	}
	return bytes.HasPrefix(head, []byte(with))
}

// maxControls is how many different control characters a text may begin with. Formats that separate
// fields by them have one or two; of compressed or encrypted bytes, a hundred have more.
const maxControls = 4

// controls returns how many different control characters there are that no text needs. NULs do not
// count: copytruncate leaves them before the first line.
func controls(head []byte) int {
	var seen [0x20]bool
	n := 0
	for _, b := range head {
		if b == 0 || b >= 0x20 || b >= '\b' && b <= '\r' || b == 0x1b || seen[b] {
			continue
		}
		seen[b] = true
		n++
	}
	return n
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded fails with errUnpacked after so many bytes.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if n, err := b.r.Read(p[:1]); n == 0 {
			return 0, err
		}
		return 0, errUnpacked
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
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

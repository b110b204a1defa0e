package logsearch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// file is an opened log file. It stays what it is when it is renamed by a rotation.
type file struct {
	*os.File
	name string // below the root
	info fs.FileInfo
}

func (f file) close() {
	if f.File != nil {
		f.File.Close()
	}
}

// opened are the files of one search, oldest first, and what could not be opened.
type opened struct {
	files []file
	// older is how many files were left out because they ended before the search begins, and
	// skipped how many because there are more than may be searched.
	older, skipped int
	// problems say in the system's words what could not be read; they are never shown.
	problems []string
}

func (o *opened) close() {
	for _, f := range o.files {
		f.Close()
	}
}

// errVanished says that a file went away between looking and opening, or that another has its name.
var errVanished = errors.New("a file vanished")

// open opens every allowed file whose name matches the agent's pattern.
func (s *source) open(sr search) (opened, error) {
	for attempt := 0; ; attempt++ {
		o, err := s.tryOpen(sr)
		if !errors.Is(err, errVanished) || attempt == 3 {
			return o, err
		}
	}
}

func (s *source) tryOpen(sr search) (opened, error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return opened{}, err
	}
	defer root.Close()
	l, err := s.list(root, sr.request.Files)
	if err != nil {
		return opened{}, err
	}
	o := opened{problems: l.problems}
	names, older := s.choose(sr, l.found)
	o.older = len(older)
	if o.skipped = max(len(names)-s.MaxFiles, 0); o.skipped > 0 {
		names = names[o.skipped:]
	}
	for _, name := range append(s.late(root, older, sr, &o), names...) {
		f, err := openBelow(root, name)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			o.problems = append(o.problems, err.Error())
		case err != nil || f.File == nil || !os.SameFile(f.info, l.found[name]):
			f.close()
			o.close()
			return opened{}, errVanished
		default:
			o.files = append(o.files, f)
		}
	}
	// What was renamed between looking and looking again may have had two names, or none.
	again, err := s.list(root, sr.request.Files)
	if err != nil || !again.same(l) {
		o.close()
		return opened{}, errVanished
	}
	return o, nil
}

// list finds the allowed files whose names match the pattern, empty for all.
func (s *source) list(root *os.Root, want string) (*lister, error) {
	l := &lister{want: want, found: map[string]fs.FileInfo{}}
	for _, parts := range s.patterns {
		if err := l.list(root, "", parts); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// margin is how far a file's own age may be off the times of its lines.
const margin = 24 * time.Hour

// choose returns the names to search, oldest first, and those of files that were last written to before
// the time asked for, and so hold no line of it, unless their age is wrong.
func (s *source) choose(sr search, found map[string]fs.FileInfo) (names, older []string) {
	for name, info := range found {
		if !sr.start.IsZero() && info.ModTime().Add(margin).Before(sr.start) {
			older = append(older, name)
			continue
		}
		names = append(names, name)
	}
	for _, list := range [][]string{names, older} {
		slices.SortFunc(list, func(a, b string) int {
			if c := found[a].ModTime().Compare(found[b].ModTime()); c != 0 {
				return c
			}
			return strings.Compare(b, a) // app.log.2 is older than app.log.1
		})
	}
	return names, older
}

// late returns those of the older files that hold a line of the time asked for, though their age says
// otherwise: that of a copy can be anything. It looks at the beginning and the end of the newest.
func (s *source) late(root *os.Root, older []string, sr search, o *opened) []string {
	var names []string
	for _, name := range older[max(len(older)-s.MaxFiles, 0):] {
		f, err := openBelow(root, name)
		if err != nil || f.File == nil {
			continue // it is looked for again, and was renamed then
		}
		if s.reaches(f, sr.start) {
			names = append(names, name)
			o.older--
		}
		f.close()
	}
	return names
}

// reaches reports whether a line at the beginning or the end of the file is of that time or later. The
// end of a compressed file is not known.
func (s *source) reaches(f file, start time.Time) bool {
	times := stamps{form: s.of(f.name).times, aged: f.info.ModTime()}
	tail := io.NewSectionReader(f, max(f.info.Size()-readSize, 0), readSize)
	texts := []io.Reader{tail}
	if c, err := s.decode(context.Background(), f); err == nil {
		defer c.close()
		texts = append(texts, io.LimitReader(c.Reader, readSize))
	}
	for _, text := range texts {
		all, _ := io.ReadAll(text)
		for line := range bytes.Lines(all) {
			if m := times.of(withoutEnd(line)); m.own && m.dated && !m.at.Before(start) {
				return true
			}
		}
	}
	return false
}

// lister finds the regular files that a pattern names. It sees no links.
type lister struct {
	want     string
	found    map[string]fs.FileInfo
	problems []string
}

// same reports whether both found the same files under the same names.
func (l *lister) same(other *lister) bool {
	return maps.EqualFunc(l.found, other.found, os.SameFile)
}

func (l *lister) list(dir *os.Root, prefix string, parts []string) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := prefix + e.Name()
		if ok, _ := path.Match(parts[0], e.Name()); !ok { // patterns were checked
			continue
		}
		if len(parts) > 1 {
			l.descend(dir, e.Name(), name+"/", parts[1:])
			continue
		}
		if ok, _ := path.Match(l.want, name); l.want != "" && !ok {
			continue
		}
		info, err := dir.Lstat(e.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			l.problems = append(l.problems, err.Error())
		case info.Mode().IsRegular():
			l.found[name] = info
		}
	}
	return nil
}

func (l *lister) descend(dir *os.Root, name, prefix string, parts []string) {
	sub, err := enter(dir, name)
	if err != nil {
		l.problems = append(l.problems, err.Error())
		return
	}
	if sub == nil {
		return
	}
	defer sub.Close()
	if err := l.list(sub, prefix, parts); err != nil {
		l.problems = append(l.problems, err.Error())
	}
}

// enter opens a directory that is one itself, not a link to one; nil when it is not. What was
// looked at and what was opened must be the same: in between, a name can be made a link.
func enter(dir *os.Root, name string) (*os.Root, error) {
	before, err := dir.Lstat(name)
	if err != nil || !before.IsDir() {
		return nil, ignoreVanished(err)
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, ignoreVanished(err)
	}
	after, err := sub.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// openBelow opens a regular file below the root, part by part, or returns a zero file when
// the name stands for something else.
func openBelow(root *os.Root, name string) (file, error) {
	dir, rest := root, name
	for {
		part, more, deeper := strings.Cut(rest, "/")
		if !deeper {
			return openRegular(dir, part, name)
		}
		sub, err := enter(dir, part)
		if err != nil || sub == nil {
			return file{}, err
		}
		defer sub.Close()
		dir, rest = sub, more
	}
}

func openRegular(dir *os.Root, base, name string) (file, error) {
	before, err := dir.Lstat(base)
	if err != nil || !before.Mode().IsRegular() {
		return file{}, err
	}
	// O_NONBLOCK: a pipe that took the name meanwhile must not hold the search up.
	f, err := dir.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return file{}, err
	}
	after, err := f.Stat()
	if err != nil || !os.SameFile(before, after) || !after.Mode().IsRegular() {
		f.Close()
		return file{}, err
	}
	return file{f, name, after}, nil
}

func ignoreVanished(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

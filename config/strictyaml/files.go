package strictyaml

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the name of a regular file that exists. A relative name in the text is relative to
// [Options.Dir]; the value includes that directory.
type File string

var _ NodeReader = (*File)(nil)

// ReadYAML implements [NodeReader].
func (f *File) ReadYAML(n Node) {
	name, ok := n.Text()
	if !ok {
		return
	}
	if name == "" {
		n.Unreadable("The name of the file is empty.", "Write the file's name, or remove the key.")
		return
	}
	*f = File(n.reader.beside(name))
	if n.reader.NoLookup {
		return
	}
	if message := unusable(string(*f)); message != "" {
		n.Unreadable(message, "Check the name; a relative one is relative to the configuration file.")
	}
}

// beside returns the file's name with the directory that it is relative to.
func (o Options) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Dir, name)
}

// unusable says why a file cannot be used, or returns "". Pipes and devices are not usable:
// reading them may block.
func unusable(name string) string {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "The file does not exist."
	case errors.Is(err, fs.ErrPermission):
		return "The file may not be read by this account."
	case err != nil:
		return "The file cannot be found."
	case !info.Mode().IsRegular():
		return "This is not the name of a regular file."
	default:
		return ""
	}
}

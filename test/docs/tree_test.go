package docs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is the tree that is tested.
func repository() fs.FS { return os.DirFS("../..") }

// files returns the paths of the tree's files whose names end in one of the suffixes. Hidden
// directories and installed packages of other people are left out.
func files(t *testing.T, tree fs.FS, suffixes ...string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); base != "." && strings.HasPrefix(base, ".") || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		for _, s := range suffixes {
			if strings.HasSuffix(name, s) {
				found = append(found, name)
				break
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

func read(t *testing.T, tree fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	require.NoError(t, err)
	return string(text)
}

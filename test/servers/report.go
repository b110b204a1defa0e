package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// reportEnv names the file that collects one line for each real server a test run used.
const reportEnv = "TOOLBOUNDARY_TEST_REPORT"

// report says in the test's log, and in the report file if there is one, which real server is in use.
func report(t testing.TB, product, version, addr string) {
	t.Helper()
	line := fmt.Sprintf("real server: %s %s at %s for %s", product, version, addr, packageUnderTest())
	t.Log(line)
	path := os.Getenv(reportEnv)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("%s: %v", reportEnv, err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Fatalf("%s: %v", reportEnv, err)
	}
}

// packageUnderTest is the directory of the package relative to its module: `go test` runs each
// package in its own directory.
func packageUnderTest() string {
	wd, err := os.Getwd()
	if err != nil {
		return "?"
	}
	for root := wd; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			rel, err := filepath.Rel(root, wd)
			if err != nil {
				return wd
			}
			return filepath.ToSlash(rel)
		}
		if root == filepath.Dir(root) {
			return wd
		}
	}
}

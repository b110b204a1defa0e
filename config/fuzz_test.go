package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: Parse never panics, its errors are Problems with text, and no secret of the
// environment is in them.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(valid))
	f.Add([]byte("data_sources: &x {a: *x, <<: *x}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := []Option{ForServe()}
		if strings.Contains(string(data), "_file") {
			// Names that the fuzzer makes up are not looked at on this machine.
			opts = append(opts, WithoutSecrets())
		}
		cfg, err := Parse(data, environment, opts...)
		if err == nil {
			_ = cfg.Warnings()
			return
		}
		var problems *Problems
		if !errors.As(err, &problems) || len(problems.List) == 0 {
			t.Fatalf("not Problems: %v", err)
		}
		for _, secret := range []string{harnessKey, tokenKey, "canary-redis"} {
			if strings.Contains(err.Error(), secret) && !strings.Contains(string(data), secret) {
				t.Fatal("a secret is in the error")
			}
		}
		for _, p := range problems.List {
			if p.Message == "" || p.Fix == "" || strings.ContainsAny(p.Path+p.Message+p.Fix, "\n\r\x00") {
				t.Fatalf("not one plain line: %+v", p)
			}
		}
	})
}

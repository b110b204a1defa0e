package strictyaml_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

func TestFaultsOfSecrets(t *testing.T) {
	const name = "Write the name of the variable, not the secret itself."
	const check = "Check the name and who may read the file; a relative name is relative to the configuration file."
	rows := []struct{ text, path, message, fix string }{
		{"password: canary-hunter2", "password", "A secret must not be written in the configuration.",
			"Name the environment variable that holds it by password_env, or the file by password_file."},
		{"password_env: NONE", "password_env", "The environment variable NONE is not set.",
			"Set NONE, or name another variable."},
		{"password_env: EMPTY", "password_env", "The environment variable EMPTY is empty.", "Set EMPTY to the secret."},
		{"password_env: canary-hunter2!", "password_env", "This is not the name of an environment variable.", name},
		{"password_env: 2FAST", "password_env", "This is not the name of an environment variable.", name},
		{"password_env: ''", "password_env", "This is not the name of an environment variable.", name},
		{"password_env: " + strings.Repeat("A", 129), "password_env",
			"This is not the name of an environment variable.", name},
		{"password_env: 5", "password_env", "This is text, but YAML reads it as a number.", "Put it in quotes."},
		{"password_env:", "password_env", "The value is empty.", "Write text. Or remove the key."},
		{"password_file: ''", "password_file", "The name of the file is empty.",
			"Write the name of the file that holds the secret."},
		{"password_file: absent", "password_file", "The file does not exist.", check},
		{"password_file: /dev/zero", "password_file", "This is not the name of a regular file.", check},
		{"{password_env: TILL, password_file: absent}", "password_file",
			"Both password_env and password_file are given.",
			"Remove one of the two."},
	}
	for _, row := range rows {
		t.Run(row.text, func(t *testing.T) {
			var into struct {
				Password secret `yaml:"password" required:"true" doc:"The password"`
			}
			root, report := strictyaml.Parse([]byte(row.text), strictyaml.Options{Env: environment})
			root.Struct(&into)
			err := report.Err("")
			require.Equal(t, []strictyaml.Problem{{Path: row.path, Line: 1, Message: row.message, Fix: row.fix}},
				problemsFrom(t, err))
			require.NotContains(t, err.Error(), "canary")
			require.False(t, into.Password.found)
			require.Empty(t, into.Password.value)
		})
	}
}

// A secret whose key is misspelt is not missing too, whichever of its keys was meant.
func TestMisspeltSecretIsNotMissingToo(t *testing.T) {
	for _, key := range []string{"key_evn", "key_fiel", "key"} {
		require.Equal(t, []string{"owner." + key}, paths(problemsOf(t, "name: shop\nowner: {"+key+": DOOR}\n")))
	}
}

func TestSecretFiles(t *testing.T) {
	const most = 64 << 10
	dir := t.TempDir()
	rows := []struct{ name, content, value, message string }{
		{"inner", " a\nb \n", " a\nb ", ""},
		{"windows", "a\r\n\r\n", "a", ""},
		{"largest", strings.Repeat("a", most), strings.Repeat("a", most), ""},
		{"too large", strings.Repeat("a", most+1), "", "The file is larger than 64KiB, too large for a secret."},
		{"line ends", "\n\r\n", "", "The file is empty."},
		{"empty", "", "", "The file is empty."},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, row.name), []byte(row.content), 0o600))
			report := strictyaml.NewReport()
			var s secret
			strictyaml.Options{Dir: dir}.SecretFromFile(report.Root().Key("k"), row.name, &s)
			require.Equal(t, secret{row.value, "file " + filepath.Join(dir, row.name), row.message == ""}, s)
			if row.message == "" {
				require.NoError(t, report.Err(""))
				return
			}
			require.Equal(t, row.message, problemsFrom(t, report.Err(""))[0].Message)
			require.True(t, report.Root().Key("k").IsUnreadable())
		})
	}
}

func TestNoEnvironmentHasNoVariable(t *testing.T) {
	report := strictyaml.NewReport()
	strictyaml.Options{}.SecretFromEnv(report.Root().Key("k"), "TILL", &secret{})
	require.Equal(t, "The environment variable TILL is not set.", problemsFrom(t, report.Err(""))[0].Message)
}

func TestNoLookupLooksAtNothing(t *testing.T) {
	env := func(name string) (string, bool) { t.Errorf("%s was looked up", name); return "", false }
	s := &shop{}
	root, report := strictyaml.Parse([]byte("name: shop\npassword_file: absent\nowner: {key_env: NONE}\n"),
		strictyaml.Options{Env: env, Dir: "/etc/shop", NoLookup: true})
	root.Struct(s)
	require.NoError(t, report.Err(""))
	require.Equal(t, secret{"", "file /etc/shop/absent", false}, s.Password)
	require.Equal(t, secret{"", "environment variable NONE", false}, s.Owner.Key)
}

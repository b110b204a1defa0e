package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// S43: the connection comes from the environment only, and nothing of it has a default.
func TestQueryFromEnvS43(t *testing.T) {
	full := map[string]string{queryHost: "127.0.0.1", queryUser: "reader", queryPassword: password}
	rows := []struct {
		name    string
		change  map[string]string
		drop    string
		problem string
	}{
		{"whole", nil, "", ""},
		{"no host", nil, queryHost, queryHost},
		{"no user", nil, queryUser, queryUser},
		{"no password", nil, queryPassword, queryPassword},
		{"empty host", map[string]string{queryHost: ""}, "", queryHost},
		{"empty password", map[string]string{queryPassword: ""}, "", queryPassword},
		{"a DSN", map[string]string{queryHost: "root:" + password + "@tcp(db)/x"}, "", queryHost},
		{"bad port", map[string]string{queryPort: "mysql"}, "", queryHost},
		{"two passwords", map[string]string{queryPasswordFile: "x"}, "", queryPasswordFile},
		{"file that is missing", map[string]string{queryPasswordFile: "absent"}, queryPassword, queryPasswordFile},
		{"bad TLS", map[string]string{queryTLS: "maybe"}, "", queryTLS},
		{"server's schema", map[string]string{querySchema: "mysql"}, "", querySchema},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			values := maps.Clone(full)
			maps.Copy(values, row.change)
			delete(values, row.drop)
			m, err := QueryFromEnv(func(name string) (string, bool) { v, ok := values[name]; return v, ok })
			if row.problem == "" {
				require.NoError(t, err)
				require.Equal(t, "127.0.0.1:3306", m.Address)
				require.Equal(t, password, m.Password.Reveal())
				require.Equal(t, TLSDisabled, m.TLS)
				require.NotContains(t, fmt.Sprintf("%+v", m), password)
				return
			}
			require.Equal(t, []string{row.problem}, pathsOfError(t, err), err.Error())
			require.NotContains(t, err.Error(), password)
		})
	}
	_, err := QueryFromEnv(empty)
	require.ElementsMatch(t, []string{queryHost, queryUser, queryPassword}, pathsOfError(t, err), "all at once")

	remote := maps.Clone(full)
	remote[queryHost] = "db.example.com"
	m, err := QueryFromEnv(func(name string) (string, bool) { v, ok := remote[name]; return v, ok })
	require.NoError(t, err)
	require.Equal(t, TLSVerify, m.TLS, "a password does not cross a network in the clear unless somebody says so")
}

func TestSecretsThatFlagsName(t *testing.T) {
	user, secret, err := AccountFromEnv(environment, "SHOP_USER", "SHOP_PASSWORD")
	require.NoError(t, err)
	require.Equal(t, []string{"reader", password}, []string{user.Reveal(), secret.Reveal()})
	_, _, err = AccountFromEnv(environment, "NONE", "not a name")
	require.Equal(t, []string{"--user-env", "--password-env"}, pathsOfError(t, err), "all at once")

	key, err := SecretFromEnv(environment, "--key-env", "TOOLBOUNDARY_HARNESS_KEY")
	require.NoError(t, err)
	require.Equal(t, harnessKey, key.Reveal())
	key, err = SecretFromEnv(environment, "--key-env", "NONE")
	require.Equal(t, []string{"--key-env"}, pathsOfError(t, err))
	require.False(t, key.IsSet())

	name := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(name, []byte(harnessKey+"\n"), 0o600))
	key, err = SecretFromFile("--key-file", name)
	require.NoError(t, err)
	require.Equal(t, harnessKey, key.Reveal())
	_, err = SecretFromFile("--key-file", "absent")
	require.Equal(t, []string{"--key-file"}, pathsOfError(t, err))
	require.ErrorContains(t, err, "command line: 1 problem")
}

func pathsOfError(t *testing.T, err error) []string {
	t.Helper()
	var problems *Problems
	require.ErrorAs(t, err, &problems)
	return pathsOf(problems.List)
}

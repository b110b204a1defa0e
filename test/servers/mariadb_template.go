package servers

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// mariadbBase are the options that the template is made with and every server runs with: small,
// quick to start, nothing durable.
func mariadbBase() []string {
	args := []string{
		"--no-defaults", "--skip-name-resolve", "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M",
		"--innodb-flush-log-at-trx-commit=0",
		"--innodb-doublewrite=0", "--aria-pagecache-buffer-size=8M", "--performance-schema=OFF",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root") // mariadbd refuses to run as root unless told to
	}
	return args
}

// mariadbTemplate returns a data directory that an installed MariaDB of this version fits, made
// once for each machine, user and version; servers start from copies.
func mariadbTemplate(version string) (string, error) {
	install, err := lookFor("mariadb-install-db", "mysql_install_db")
	if err != nil {
		return "", err
	}
	root, err := cacheDir()
	if err != nil {
		return "", err
	}
	key := sha256.Sum256([]byte(version + "\x00" + strings.Join(mariadbBase(), "\x00")))
	dir := filepath.Join(root, "mariadb-"+hex.EncodeToString(key[:8]))
	unlock, err := lockFile(dir + ".lock") // packages are tested in parallel
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	building, err := os.MkdirTemp(root, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(building)
	args := append(mariadbBase(), "--auth-root-authentication-method=normal", "--skip-test-db", "--datadir="+building)
	if out, err := exec.Command(install, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", filepath.Base(install), err, tail(out))
	}
	return dir, os.Rename(building, dir)
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil || os.MkdirAll(base, 0o700) != nil {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("toolboundary-cache-%d", os.Getuid()))
	}
	dir := filepath.Join(base, "toolboundary-test")
	return dir, os.MkdirAll(dir, 0o700)
}

func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}

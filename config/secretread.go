package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// secretRef is where a secret is said to be.
type secretRef struct {
	env, file     string
	atEnv, atFile *Place
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

func (r *reader) secretRef(refs map[string]*secretRef, name, key string, at Place, n *yaml.Node) {
	ref := refs[name]
	if ref == nil {
		ref = &secretRef{}
		refs[name] = ref
	}
	if strings.HasSuffix(key, "_env") {
		ref.atEnv = &at
		r.text(at, n, &ref.env)
	} else {
		ref.atFile = &at
		r.text(at, n, &ref.file)
	}
}

// secret reads the secret of field f from the place that ref names. No message holds a value;
// the text of name_env is shown only when it has the form of a variable's name, since some
// people put the secret itself there.
func (r *reader) secret(at Place, f field, ref *secretRef) Secret {
	switch {
	case ref == nil:
		if place := at.Key(f.name + "_env"); f.required() && !at.Key(f.name+"_file").isBroken() {
			place.unreadable("Neither "+f.name+"_env nor "+f.name+"_file is given.", "Add "+f.name+"_env with the name of the environment variable that holds the secret.")
		}
		return Secret{}
	case ref.atEnv != nil && ref.atFile != nil:
		ref.atFile.Problem("Both "+f.name+"_env and "+f.name+"_file are given.", "Remove one of the two.")
		return Secret{}
	case ref.atEnv != nil:
		return r.secretFromEnv(*ref.atEnv, ref.env)
	default:
		return r.secretFromFile(*ref.atFile, ref.file)
	}
}

func (r *reader) secretFromEnv(at Place, name string) Secret {
	if at.isBroken() {
		return Secret{}
	}
	if !envName.MatchString(name) {
		at.unreadable("This is not the name of an environment variable.", "Write the name of the variable, not the secret itself.")
		return Secret{}
	}
	origin := "environment variable " + name
	if !r.secrets {
		return Secret{origin: origin}
	}
	value, ok := r.env(name)
	switch {
	case !ok:
		at.unreadable("The environment variable "+name+" is not set.", "Set "+name+", or name another variable.")
	case value == "":
		at.unreadable("The environment variable "+name+" is empty.", "Set "+name+" to the secret.")
	default:
		return NewSecret(value, origin)
	}
	return Secret{origin: origin}
}

func (r *reader) secretFromFile(at Place, name string) Secret {
	if at.isBroken() {
		return Secret{}
	}
	if name == "" {
		at.unreadable("The name of the file is empty.", "Write the name of the file that holds the secret.")
		return Secret{}
	}
	name = r.beside(name)
	origin := "file " + printable(name)
	if !r.secrets {
		return Secret{origin: origin}
	}
	value, message := secretFile(name)
	if message != "" {
		at.unreadable(message, "Check the name and who may read the file; a relative name is relative to the configuration file.")
		return Secret{origin: origin}
	}
	return NewSecret(value, origin)
}

// secretFile returns what the file holds without the line ends at its end, or what is wrong.
func secretFile(name string) (value, message string) {
	if message := unusable(name); message != "" {
		return "", message
	}
	f, err := os.Open(name)
	if err != nil {
		return "", "The file cannot be read."
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch value = strings.TrimRight(string(data), "\r\n"); {
	case err != nil:
		return "", "The file cannot be read."
	case len(data) > maxSecret:
		return "", "The file is larger than 64KiB, which no secret is."
	case value == "":
		return "", "The file is empty."
	}
	return value, ""
}

// unusable says why a file cannot be used, or "". Pipes and devices are refused: they may block.
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
		return "The name is not that of a regular file."
	default:
		return ""
	}
}

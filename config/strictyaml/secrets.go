package strictyaml

import (
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
)

// Secret is implemented by the pointer to a type whose value must not be written in the file. A
// field of the key name with such a type is read from the keys name_env, which names an
// environment variable, or name_file, which names a file.
type Secret interface {
	// SetSecret takes the value and where it comes from, such as "environment variable X". When
	// the value was not looked up, or could not be read, found is false and value is empty.
	SetSecret(value, origin string, found bool)
}

const envForm = "^[A-Za-z_][A-Za-z0-9_]{0,127}$"

var envName = regexp.MustCompile(envForm)

// maxSecret bounds the file of a secret, in bytes.
const maxSecret = 64 << 10

// secretRef is where the file says that a secret is.
type secretRef struct {
	env, file     string
	atEnv, atFile *Place
}

// secretRef reads the key name_env or name_file.
func (n Node) secretRef(refs map[string]*secretRef, name, key string) {
	ref := refs[name]
	if ref == nil {
		ref = &secretRef{}
		refs[name] = ref
	}
	text, _ := n.Text()
	if strings.HasSuffix(key, "_env") {
		ref.env, ref.atEnv = text, &n.Place
	} else {
		ref.file, ref.atFile = text, &n.Place
	}
}

// secret reads the secret of a section's field from the place that ref names.
func (n Node) secret(f field, ref *secretRef, into reflect.Value) {
	switch {
	case ref == nil:
		if f.required() && !n.Key(f.name+"_file").IsUnreadable() {
			n.Key(f.name+"_env").Unreadable("Neither "+f.name+"_env nor "+f.name+"_file is given.",
				"Add "+f.name+"_env with the name of the environment variable that holds the secret.")
		}
	case ref.atEnv != nil && ref.atFile != nil:
		ref.atFile.Problem("Both "+f.name+"_env and "+f.name+"_file are given.", "Remove one of the two.")
	case ref.atEnv != nil:
		n.reader.SecretFromEnv(*ref.atEnv, ref.env, into.Addr().Interface().(Secret))
	default:
		n.reader.SecretFromFile(*ref.atFile, ref.file, into.Addr().Interface().(Secret))
	}
}

// SecretFromEnv reads a secret from the environment variable; problems are reported at the
// place. No message contains a value, and the variable is shown only when it has the form of a
// variable's name: some people write the secret itself there.
func (o Options) SecretFromEnv(at Place, variable string, into Secret) {
	if !envName.MatchString(variable) {
		at.Unreadable("This is not the name of an environment variable.",
			"Write the name of the variable, not the secret itself.")
		return
	}
	var value string
	var found bool
	if !o.NoLookup {
		if o.Env != nil {
			value, found = o.Env(variable)
		}
		switch {
		case !found:
			at.Unreadable("The environment variable "+variable+" is not set.",
				"Set "+variable+", or name another variable.")
		case value == "":
			at.Unreadable("The environment variable "+variable+" is empty.", "Set "+variable+" to the secret.")
		}
	}
	into.SetSecret(value, "environment variable "+variable, value != "")
}

// SecretFromFile reads a secret from the file, without the line ends at its end; problems are
// reported at the place. The file is regular and at most 64 KiB long.
func (o Options) SecretFromFile(at Place, name string, into Secret) {
	if name == "" {
		at.Unreadable("The name of the file is empty.", "Write the name of the file that holds the secret.")
		return
	}
	name = o.beside(name)
	var value, message string
	if !o.NoLookup {
		if value, message = secretFile(name); message != "" {
			at.Unreadable(message,
				"Check the name and who may read the file; a relative name is relative to the configuration file.")
		}
	}
	into.SetSecret(value, "file "+printable(name), value != "")
}

// secretFile returns what the file contains without the line ends at its end, or what is wrong.
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
		return "", "The file is larger than 64KiB, too large for a secret."
	case value == "":
		return "", "The file is empty."
	}
	return value, ""
}

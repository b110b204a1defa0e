package config

import (
	"slices"
	"strings"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Auth contains the two sorts of keys. Both lists have elements when loaded with ForServe.
type Auth struct {
	HarnessKeys []HarnessKey `yaml:"harness_keys" doc:"Bearer keys of the trusted programs that open runs."`
	// TokenKeys sign agent tokens: the first signs, all verify, so that keys can be rotated.
	TokenKeys []TokenKey `yaml:"token_keys"`
}

// Tags implements strictyaml.Tagger.
func (Auth) Tags() strictyaml.Tags {
	return strictyaml.Tags{
		"token_keys": `doc:"Keys of agent tokens: the first signs, all verify. The same on every replica."`,
	}
}

// keyNameForm is the form of the names and ids of keys, as tags.
const keyNameForm = `pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" ` +
	`form:"1 to 64 letters, digits, dots, dashes or underscores, a letter or digit first"`

// HarnessKey is the bearer key of one harness: at least 24 visible ASCII bytes.
type HarnessKey struct {
	Name string `yaml:"name" required:"true" doc:"Name of the harness, for logs."`
	Key  Secret `yaml:"key" required:"true" doc:"The bearer key, at least 24 visible ASCII characters"`
}

// Tags implements strictyaml.Tagger.
func (HarnessKey) Tags() strictyaml.Tags { return strictyaml.Tags{"name": keyNameForm} }

// TokenKey signs and verifies agent tokens: at least 32 bytes.
type TokenKey struct {
	ID  string `yaml:"id" required:"true" doc:"Id of the key, carried in each token."`
	Key Secret `yaml:"key" required:"true" doc:"The signing key, at least 32 bytes"`
}

// Tags implements strictyaml.Tagger.
func (TokenKey) Tags() strictyaml.Tags { return strictyaml.Tags{"id": keyNameForm} }

// The least lengths of keys, in bytes. Agent tokens are signed with HMAC-SHA-256, whose key
// should be as long as its sum (RFC 2104); a harness key is guessed over the network only.
const (
	minTokenKey   = 32
	minHarnessKey = 24
)

const newKey = "Make one with: openssl rand -base64 32"

func (a Auth) validate(at Place, serve bool) {
	harnesses, tokens := at.Key("harness_keys"), at.Key("token_keys")
	if serve && len(a.HarnessKeys) == 0 {
		harnesses.Problem("The service needs at least one harness key.",
			"Add {name: diagnosis, key_env: TOOLBOUNDARY_HARNESS_KEY}.")
	}
	if serve && len(a.TokenKeys) == 0 {
		tokens.Problem("The service needs at least one key for agent tokens.",
			"Add {id: k1, key_env: TOOLBOUNDARY_TOKEN_KEY}.")
	}
	keys := seen{names: map[string]bool{}}
	for i, k := range a.HarnessKeys {
		at := harnesses.Index(i)
		keys.name(at.Key("name"), "harness "+k.Name, k.Name)
		k.validate(at.Secret("key"))
		keys.value(at.Secret("key"), k.Key)
	}
	for i, k := range a.TokenKeys {
		at := tokens.Index(i)
		keys.name(at.Key("id"), "token "+k.ID, k.ID)
		if k.Key.IsSet() && len(k.Key.Reveal()) < minTokenKey {
			at.Secret("key").Problem("The key for agent tokens is shorter than 32 bytes.", newKey)
		}
		keys.value(at.Secret("key"), k.Key)
	}
}

func (k HarnessKey) validate(at Place) {
	if k.Key.IsSet() && len(k.Key.Reveal()) < minHarnessKey {
		at.Problem("The harness key is shorter than 24 bytes.", newKey)
	}
	if strings.ContainsFunc(k.Key.Reveal(), func(c rune) bool { return c < '!' || c > '~' }) {
		at.Problem("The harness key has blanks or characters that an HTTP header cannot carry.", newKey)
	}
}

// seen finds names and secrets that are given twice.
type seen struct {
	names  map[string]bool
	values []Secret
}

func (s *seen) name(at Place, key, name string) {
	if name != "" && s.names[key] {
		at.Problem("The name is given twice.", "Rename one of the two.")
	}
	s.names[key] = true
}

func (s *seen) value(at Place, value Secret) {
	if value.IsSet() && slices.ContainsFunc(s.values, value.equal) {
		at.Problem("The key is the same as another one.", newKey)
	}
	s.values = append(s.values, value)
}

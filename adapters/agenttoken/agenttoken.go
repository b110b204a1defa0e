// Package agenttoken signs and checks agent tokens: JWTs under HS256, bound to one run, its
// incarnation and its grants.
//
// The first key signs, all keys verify, so a key is rotated by putting a new one in front and
// dropping the old one once its last token has expired. Everything in a token that the
// verifier does not expect is refused: another algorithm, an unknown kid, another issuer or
// audience, a missing expiry, a token longer than MaxTokenBytes.
//
// A token outlives its run's deadline by Grace, so that an agent that comes late is told
// RUN_DEADLINE_EXCEEDED and not UNAUTHENTICATED; the deadline itself is the store's to judge.
package agenttoken

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
	"github.com/toolboundary/toolboundary/ports"
)

const (
	// Grace is how long a token is valid past its run's deadline: 10 minutes, and less than the run is
	// known for, whatever its records.
	Grace = run.Afterlife - 5*time.Minute
	// MaxTokenBytes bounds a token, in bytes; a longer one is refused before it is decoded.
	MaxTokenBytes = 16 << 10
	// MinSecretBytes is the least length of a key's secret: HS256 wants as many bits as its hash.
	MinSecretBytes = 32

	issuer   = "toolboundary"
	audience = "toolboundary/agent"
	tokenTyp = "JWT"
)

// Key is one signing key.
type Key struct {
	// ID is the kid that tokens carry: [A-Za-z0-9._-]{1,64}.
	ID string
	// Secret is at least MinSecretBytes long. It never leaves the package.
	Secret []byte
}

// Tokens issues and verifies agent tokens. It is safe for concurrent use.
type Tokens struct {
	signer Key
	byID   map[string][]byte
	parser *jwt.Parser
}

var (
	_ application.Tokens = (*Tokens)(nil)

	keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	// Go's base64 decoder skips line breaks, also in strict mode: a token is checked whole.
	tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)
)

// New returns tokens under the keys, or every reason why they are not usable: no key, an id of
// another form or used twice, a secret that is too short. No error names a secret.
func New(clock ports.Clock, keys ...Key) (*Tokens, error) {
	if len(keys) == 0 {
		return nil, errors.New("agent tokens need at least one key")
	}
	t := &Tokens{byID: make(map[string][]byte, len(keys))}
	var problems []error
	for i, k := range keys {
		_, twice := t.byID[k.ID]
		switch {
		case !keyID.MatchString(k.ID):
			problems = append(problems, fmt.Errorf(
				"token key %d: the id must be 1 to 64 letters, digits, dots, dashes and underscores", i))
		case twice:
			problems = append(problems, fmt.Errorf("two token keys have the id %q", k.ID))
		case len(k.Secret) < MinSecretBytes:
			problems = append(problems, fmt.Errorf("token key %q is shorter than %d bytes", k.ID, MinSecretBytes))
		}
		t.byID[k.ID] = append([]byte(nil), k.Secret...)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	t.signer = Key{ID: keys[0].ID, Secret: t.byID[keys[0].ID]}
	t.parser = jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithIssuer(issuer), jwt.WithAudience(audience), jwt.WithExpirationRequired(), jwt.WithLeeway(0),
		jwt.WithTimeFunc(clock.Now))
	return t, nil
}

// claims are what a token says. Grants never change within an incarnation, so a token needs no
// look-up in the store.
type claims struct {
	jwt.RegisteredClaims
	RunID       run.ID   `json:"run_id"`
	Incarnation string   `json:"incarnation"`
	Tools       []string `json:"tools"`
	DataSources []string `json:"data_sources"`
}

// Issue returns the run's token, valid until its deadline plus Grace. A run whose grants do
// not fit a token of MaxTokenBytes is REQUEST_INVALID.
func (t *Tokens) Issue(r run.Run) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Audience: jwt.ClaimStrings{audience}, ExpiresAt: jwt.NewNumericDate(r.Deadline.Add(Grace)),
		},
		RunID: r.ID, Incarnation: r.Incarnation, Tools: r.Grants.Tools, DataSources: r.Grants.DataSources,
	})
	token.Header["kid"] = t.signer.ID
	signed, err := token.SignedString(t.signer.Secret)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err)
	}
	if len(signed) > MaxTokenBytes {
		return "", fault.Because(fault.RequestInvalid, "GRANTS",
			"tools and data_sources together do not fit an agent token")
	}
	return signed, nil
}

// Verify returns the run context that the token was issued for, or UNAUTHENTICATED.
func (t *Tokens) Verify(token string) (application.RunContext, error) {
	if len(token) > MaxTokenBytes || !tokenForm.MatchString(token) {
		return application.RunContext{}, fault.New(fault.Unauthenticated)
	}
	var c claims
	if _, err := t.parser.ParseWithClaims(token, &c, t.key); err != nil {
		return application.RunContext{}, fault.Wrap(fault.Unauthenticated, err)
	}
	if c.RunID.Check() != nil || c.Incarnation == "" {
		return application.RunContext{}, fault.New(fault.Unauthenticated)
	}
	return application.RunContext{
		RunID: c.RunID, Incarnation: c.Incarnation,
		Grants: run.Grants{Tools: c.Tools, DataSources: c.DataSources},
	}, nil
}

var errHeader = errors.New("the token's header is not one of ours")

// key returns the secret that the header names. A header with anything but alg, typ and kid
// is refused: the library knows no critical extensions (crit) and would ignore them.
func (t *Tokens) key(token *jwt.Token) (any, error) {
	kid, _ := token.Header["kid"].(string)
	secret, known := t.byID[kid]
	if !known || len(token.Header) != 3 || token.Header["typ"] != tokenTyp {
		return nil, errHeader
	}
	return secret, nil
}

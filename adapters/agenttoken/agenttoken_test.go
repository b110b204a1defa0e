package agenttoken_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/adapters/agenttoken"
	"github.com/toolboundary/toolboundary/adapters/fake"
	"github.com/toolboundary/toolboundary/application"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/domain/run"
)

var (
	start  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	first  = agenttoken.Key{ID: "k1", Secret: []byte(strings.Repeat("1", 32))}
	second = agenttoken.Key{ID: "k2", Secret: []byte(strings.Repeat("2", 32))}
)

func tokens(t *testing.T, clock *fake.Clock, keys ...agenttoken.Key) *agenttoken.Tokens {
	t.Helper()
	made, err := agenttoken.New(clock, keys...)
	require.NoError(t, err)
	return made
}

func opened() run.Run {
	return run.Run{ID: "r1", Incarnation: "inc-1", State: run.Active, Deadline: start.Add(time.Minute),
		Grants: run.Grants{Tools: []string{"mysql_query"}, DataSources: []string{"shop"}}}
}

// refused requires that the token is not valid, and that the error says nothing more.
func refused(t *testing.T, made *agenttoken.Tokens, token string) {
	t.Helper()
	rc, err := made.Verify(token)
	require.Error(t, err, "the token %.200q is accepted, for %+v", token, rc)
	require.Equal(t, fault.Unauthenticated, fault.CodeOf(err), "%.200q", token)
	require.Zero(t, rc, "%.200q", token)
	require.Equal(t, fault.New(fault.Unauthenticated).Error(), err.Error(), "without the library's words")
}

func TestS02_TokenCarriesItsRunOnly(t *testing.T) {
	made := tokens(t, fake.NewClock(start), first)
	token, err := made.Issue(opened())
	require.NoError(t, err)
	rc, err := made.Verify(token)
	require.NoError(t, err)
	require.Equal(t, application.RunContext{RunID: "r1", Incarnation: "inc-1", Grants: opened().Grants}, rc)

	other := opened()
	other.ID, other.Incarnation = "r2", "inc-2"
	token2, err := made.Issue(other)
	require.NoError(t, err)
	rc, err = made.Verify(token2)
	require.NoError(t, err)
	require.Equal(t, run.ID("r2"), rc.RunID)
}

func TestS06_TokenOutlivesTheDeadlineByItsGraceOnly(t *testing.T) {
	clock := fake.NewClock(start)
	made := tokens(t, clock, first)
	token, err := made.Issue(opened())
	require.NoError(t, err)
	clock.Advance(time.Minute + agenttoken.Grace - time.Second)
	_, err = made.Verify(token)
	require.NoError(t, err)
	clock.Advance(time.Second)
	refused(t, made, token)
}

// TestS06_NoTokenOutlivesItsRun is about a run whose records live for no time at all, the first that
// a store forgets: from then on the id may name another run.
func TestS06_NoTokenOutlivesItsRun(t *testing.T) {
	clock := fake.NewClock(start)
	made := tokens(t, clock, first)
	r := opened()
	r.RecordTTL = 0
	token, err := made.Issue(r)
	require.NoError(t, err)
	clock.Advance(r.Deadline.Sub(start))
	_, err = made.Verify(token)
	require.NoError(t, err, "an agent that comes late is told RUN_DEADLINE_EXCEEDED")
	clock.Advance(r.Forgotten().Sub(clock.Now()) - time.Minute)
	refused(t, made, token)
	require.Equal(t, 10*time.Minute, agenttoken.Grace)
	require.Less(t, agenttoken.Grace, run.Afterlife)
}

func TestRotation(t *testing.T) {
	clock := fake.NewClock(start)
	before, rotated, after := tokens(t, clock, first), tokens(t, clock, second, first), tokens(t, clock, second)
	old, err := before.Issue(opened())
	require.NoError(t, err)
	fresh, err := rotated.Issue(opened())
	require.NoError(t, err)

	for name, token := range map[string]string{"old": old, "fresh": fresh} {
		_, err := rotated.Verify(token)
		require.NoError(t, err, name)
	}
	refused(t, after, old)
	refused(t, before, fresh)
	_, err = after.Verify(fresh)
	require.NoError(t, err)

	sameIDOtherSecret := tokens(t, clock, agenttoken.Key{ID: "k1", Secret: second.Secret})
	refused(t, sameIDOtherSecret, old)
}

func TestTampering(t *testing.T) {
	made := tokens(t, fake.NewClock(start), first)
	token, err := made.Issue(opened())
	require.NoError(t, err)
	for i := range token {
		changed := []byte(token)
		if changed[i]++; token[i] == 'z' || token[i] == '9' || token[i] == 'Z' {
			changed[i] = 'A'
		}
		refused(t, made, string(changed))
	}
	for _, bad := range []string{
		"", ".", "..", token + ".", token + "=", " " + token, token + "\n", token[:len(token)-1],
		strings.Repeat("a", agenttoken.MaxTokenBytes+1),
	} {
		refused(t, made, bad)
	}
	parts := strings.Split(token, ".")
	refused(t, made, parts[0]+"."+parts[1]+".")
}

// object is a JSON object: a token's header or its claims.
type object = map[string]any

// forge signs whatever header and claims say with the key; a nil in the header removes a member.
func forge(t *testing.T, method jwt.SigningMethod, header, claims object, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	for name, value := range header {
		if value == nil {
			delete(token.Header, name)
			continue
		}
		token.Header[name] = value
	}
	signed, err := token.SignedString(key)
	require.NoError(t, err)
	return signed
}

// good are claims that are valid.
func good() object {
	return object{
		"iss": "toolboundary", "aud": []string{"toolboundary/agent"}, "exp": start.Add(time.Hour).Unix(),
		"run_id": "r1", "incarnation": "i", "tools": []string{"a"}, "data_sources": []string{},
	}
}

// with are the good claims with one changed; nil removes it.
func with(name string, value any) object {
	c := good()
	if c[name] = value; value == nil {
		delete(c, name)
	}
	return c
}

func TestForgeries(t *testing.T) {
	made := tokens(t, fake.NewClock(start), first)
	kid := object{"kid": "k1"}
	hs256 := func(header, claims object) string {
		return forge(t, jwt.SigningMethodHS256, header, claims, first.Secret)
	}
	_, err := made.Verify(hs256(kid, good()))
	require.NoError(t, err, "each forgery below must be refused for its own reason")

	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for name, token := range map[string]string{
		"alg none":             forge(t, jwt.SigningMethodNone, kid, good(), jwt.UnsafeAllowNoneSignatureType),
		"alg RS256":            forge(t, jwt.SigningMethodRS256, kid, good(), private),
		"alg HS512, our key":   forge(t, jwt.SigningMethodHS512, kid, good(), first.Secret),
		"other secret":         forge(t, jwt.SigningMethodHS256, kid, good(), second.Secret),
		"empty secret":         forge(t, jwt.SigningMethodHS256, kid, good(), []byte{}),
		"header says none":     hs256(object{"kid": "k1", "alg": "none"}, good()),
		"header says hs256":    hs256(object{"kid": "k1", "alg": "hs256"}, good()),
		"no kid":               hs256(nil, good()),
		"unknown kid":          hs256(object{"kid": "k9"}, good()),
		"kid is a number":      hs256(object{"kid": 1}, good()),
		"kid is a path":        hs256(object{"kid": "../k1"}, good()),
		"critical extension":   hs256(object{"kid": "k1", "crit": []string{"x"}}, good()),
		"key in the header":    hs256(object{"kid": "k1", "jwk": map[string]string{"kty": "oct"}}, good()),
		"no typ":               hs256(object{"kid": "k1", "typ": nil}, good()),
		"other typ":            hs256(object{"kid": "k1", "typ": "at+jwt"}, good()),
		"no expiry":            hs256(kid, with("exp", nil)),
		"expired":              hs256(kid, with("exp", start.Unix())),
		"expiry as text":       hs256(kid, with("exp", "2999-01-01")),
		"not yet":              hs256(kid, with("nbf", start.Add(time.Second).Unix())),
		"other issuer":         hs256(kid, with("iss", "someone")),
		"no issuer":            hs256(kid, with("iss", nil)),
		"other audience":       hs256(kid, with("aud", "toolboundary/harness")),
		"no audience":          hs256(kid, with("aud", nil)),
		"no run":               hs256(kid, with("run_id", nil)),
		"unsafe run":           hs256(kid, with("run_id", "../r1")),
		"no incarnation":       hs256(kid, with("incarnation", nil)),
		"tools are not a list": hs256(kid, with("tools", "all")),
		"claims are a list":    "e30." + base64.RawURLEncoding.EncodeToString([]byte("[]")) + ".",
	} {
		t.Run(name, func(t *testing.T) { refused(t, made, token) })
	}
}

// An RSA-signing service that publishes its public key must not have it used as an HMAC
// secret; here no key is public, and only HS256 is taken at all.
func TestTokenHoldsNoSecretAndNamesOurAlgorithm(t *testing.T) {
	made := tokens(t, fake.NewClock(start), first)
	token, err := made.Issue(opened())
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[0])
	require.NoError(t, err)
	var header map[string]string
	require.NoError(t, json.Unmarshal(raw, &header))
	require.Equal(t, map[string]string{"alg": "HS256", "typ": "JWT", "kid": "k1"}, header)
}

func TestGrantsThatDoNotFitATokenAreRefusedAtIssue(t *testing.T) {
	made := tokens(t, fake.NewClock(start), first)
	r := opened()
	r.Grants.DataSources = []string{strings.Repeat("s", agenttoken.MaxTokenBytes)}
	_, err := made.Issue(r)
	require.Equal(t, fault.RequestInvalid, fault.CodeOf(err))
}

func TestNewNamesEveryBadKeyAndNoSecret(t *testing.T) {
	clock := fake.NewClock(start)
	_, err := agenttoken.New(clock)
	require.Error(t, err)
	_, err = agenttoken.New(clock, first, agenttoken.Key{ID: "short", Secret: []byte("hunter2")},
		first, agenttoken.Key{ID: "a b", Secret: first.Secret})
	require.ErrorContains(t, err, `"short" is shorter than 32 bytes`)
	require.ErrorContains(t, err, `two token keys have the id "k1"`)
	require.ErrorContains(t, err, "token key 3")
	require.NotContains(t, err.Error(), "hunter2")

	secret := append([]byte(nil), first.Secret...)
	made := tokens(t, clock, agenttoken.Key{ID: "k1", Secret: secret})
	token, err := made.Issue(opened())
	require.NoError(t, err)
	clear(secret)
	_, err = made.Verify(token)
	require.NoError(t, err, "the caller may wipe its copy")
}

// TestBoundsAreExact takes a secret and a token at their bounds and one byte beyond.
func TestBoundsAreExact(t *testing.T) {
	short := agenttoken.Key{ID: "k1", Secret: bytes.Repeat([]byte("k"), agenttoken.MinSecretBytes-1)}
	_, err := agenttoken.New(fake.NewClock(start), short)
	require.ErrorContains(t, err, "shorter than")
	tokens(t, fake.NewClock(start), agenttoken.Key{ID: "k1", Secret: append(short.Secret, 'k')})

	// A token signed with the right key, by its length on either side of the bound.
	sign := func(name int) string {
		claims := good()
		claims["data_sources"] = []string{strings.Repeat("s", name)}
		return forge(t, jwt.SigningMethodHS256, object{"kid": "k1"}, claims, first.Secret)
	}
	made := tokens(t, fake.NewClock(start), first)
	name := agenttoken.MaxTokenBytes / 2
	for len(sign(name+1)) <= agenttoken.MaxTokenBytes {
		name++
	}
	_, err = made.Verify(sign(name))
	require.NoError(t, err, "a token of at most MaxTokenBytes")
	refused(t, made, sign(name+1))
}

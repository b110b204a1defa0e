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

func refused(t *testing.T, made *agenttoken.Tokens, token string) {
	t.Helper()
	rc, err := made.Verify(token)
	require.Equal(t, fault.Unauthenticated, fault.CodeOf(err), "%v", rc)
	require.Zero(t, rc)
	require.Equal(t, fault.New(fault.Unauthenticated).Error(), err.Error(), "no word of the library's own")
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

	for _, token := range []string{old, fresh} {
		_, err := rotated.Verify(token)
		require.NoError(t, err)
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
	for _, bad := range []string{"", ".", "..", token + ".", token + "=", " " + token, token + "\n", token[:len(token)-1], strings.Repeat("a", agenttoken.MaxTokenBytes+1)} {
		refused(t, made, bad)
	}
	parts := strings.Split(token, ".")
	refused(t, made, parts[0]+"."+parts[1]+".")
}

// forge signs whatever header and claims say, with the verifier's own key unless told otherwise.
func forge(t *testing.T, method jwt.SigningMethod, header map[string]any, claims map[string]any, key any) string {
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

func good() map[string]any {
	return map[string]any{"iss": "toolboundary", "aud": []string{"toolboundary/agent"}, "exp": start.Add(time.Hour).Unix(),
		"run_id": "r1", "incarnation": "i", "tools": []string{"a"}, "data_sources": []string{}}
}

func with(name string, value any) map[string]any {
	c := good()
	if c[name] = value; value == nil {
		delete(c, name)
	}
	return c
}

func TestForgeries(t *testing.T) {
	made := tokens(t, fake.NewClock(start), first)
	kid := map[string]any{"kid": "k1"}
	_, err := made.Verify(forge(t, jwt.SigningMethodHS256, kid, good(), first.Secret))
	require.NoError(t, err, "the forgeries below fail for their own reason only")

	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	for name, token := range map[string]string{
		"alg none":            forge(t, jwt.SigningMethodNone, kid, good(), jwt.UnsafeAllowNoneSignatureType),
		"alg RS256":           forge(t, jwt.SigningMethodRS256, kid, good(), private),
		"alg HS512, our key":  forge(t, jwt.SigningMethodHS512, kid, good(), first.Secret),
		"header says none":    forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k1", "alg": "none"}, good(), first.Secret),
		"header says hs256":   forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k1", "alg": "hs256"}, good(), first.Secret),
		"no kid":              forge(t, jwt.SigningMethodHS256, nil, good(), first.Secret),
		"unknown kid":         forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k9"}, good(), first.Secret),
		"kid is a number":     forge(t, jwt.SigningMethodHS256, map[string]any{"kid": 1}, good(), first.Secret),
		"kid is a path":       forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "../k1"}, good(), first.Secret),
		"critical extension":  forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k1", "crit": []string{"x"}}, good(), first.Secret),
		"key in the header":   forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k1", "jwk": map[string]string{"kty": "oct"}}, good(), first.Secret),
		"no typ":              forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k1", "typ": nil}, good(), first.Secret),
		"other typ":           forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k1", "typ": "at+jwt"}, good(), first.Secret),
		"other secret":        forge(t, jwt.SigningMethodHS256, kid, good(), second.Secret),
		"empty secret":        forge(t, jwt.SigningMethodHS256, kid, good(), []byte{}),
		"no expiry":           forge(t, jwt.SigningMethodHS256, kid, with("exp", nil), first.Secret),
		"expired":             forge(t, jwt.SigningMethodHS256, kid, with("exp", start.Unix()), first.Secret),
		"expiry as text":      forge(t, jwt.SigningMethodHS256, kid, with("exp", "2999-01-01"), first.Secret),
		"not yet":             forge(t, jwt.SigningMethodHS256, kid, with("nbf", start.Add(time.Second).Unix()), first.Secret),
		"other issuer":        forge(t, jwt.SigningMethodHS256, kid, with("iss", "someone"), first.Secret),
		"no issuer":           forge(t, jwt.SigningMethodHS256, kid, with("iss", nil), first.Secret),
		"other audience":      forge(t, jwt.SigningMethodHS256, kid, with("aud", "toolboundary/harness"), first.Secret),
		"no audience":         forge(t, jwt.SigningMethodHS256, kid, with("aud", nil), first.Secret),
		"no run":              forge(t, jwt.SigningMethodHS256, kid, with("run_id", nil), first.Secret),
		"unsafe run":          forge(t, jwt.SigningMethodHS256, kid, with("run_id", "../r1"), first.Secret),
		"no incarnation":      forge(t, jwt.SigningMethodHS256, kid, with("incarnation", nil), first.Secret),
		"tools are no list":   forge(t, jwt.SigningMethodHS256, kid, with("tools", "all"), first.Secret),
		"claims are no claim": "e30." + base64.RawURLEncoding.EncodeToString([]byte("[]")) + ".",
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
	_, err = agenttoken.New(clock, first, agenttoken.Key{ID: "short", Secret: []byte("hunter2")}, first, agenttoken.Key{ID: "a b", Secret: first.Secret})
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
		return forge(t, jwt.SigningMethodHS256, map[string]any{"kid": "k1"}, claims, first.Secret)
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

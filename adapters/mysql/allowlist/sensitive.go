package allowlist

import (
	"slices"
	"strings"
	"unicode"
)

// sign is one thing that a name can give away.
type sign struct {
	what string
	// words are whole words of a name; parts are looked for anywhere in its letters.
	words, parts []string
}

// signs are ordered: the first that fits is the reason that is shown. A wrong one costs the operator
// a line to move; a missed one costs somebody their data.
func signs() []sign {
	return []sign{
		{"a password or key",
			[]string{"pw", "pwd", "pass", "pin", "otp", "totp", "mfa", "salt", "hash", "key", "cvv", "cvc", "csrf"},
			[]string{"passw", "passphrase", "secret", "token", "apikey", "privatekey", "credential", "signature"}},
		{"an official number",
			[]string{"ssn", "sin", "nin", "tin", "nhs", "pesel", "bsn", "cpf", "vat"},
			[]string{"socialsecurity", "socialinsurance", "nationalid", "taxid", "passport", "licence", "license",
				"idcard",
				"personalid"}},
		{"payment data",
			[]string{"card", "pan", "iban", "bic", "swift", "iin", "bank", "routing"},
			[]string{"creditcard", "cardnumber", "cardlast", "accountnumber", "bankaccount", "sortcode"}},
		{"an e-mail address", []string{"mail"}, []string{"email"}},
		{"a phone number", []string{"tel", "fax", "cell", "msisdn", "imei", "imsi"}, []string{"phone", "mobile"}},
		{"an address",
			[]string{"addr", "street", "zip", "plz", "postal", "house"},
			[]string{"address", "postcode", "zipcode", "postalcode"}},
		{"a place or device",
			[]string{"ip", "ipv4", "ipv6", "lat", "lng", "lon", "geo", "gps", "mac"},
			[]string{"latitude", "longitude", "useragent", "deviceid"}},
		{"a birth date or age", []string{"dob", "age", "born"}, []string{"birth"}},
		{"a personal name",
			[]string{"surname", "lastname", "firstname", "forename", "nickname", "maiden"},
			[]string{"fullname", "firstname", "lastname", "middlename", "familyname", "givenname"}},
		{"a personal trait",
			[]string{"sex", "race"},
			[]string{"gender", "religion", "ethnic", "nationality", "marital", "health", "diagnos", "disabil",
				"biometric",
				"salary", "income"}},
	}
}

// sensitive returns what a column's name or its comment gives away, or "".
func sensitive(c Column) string {
	words, letters := wordsOf(c.Name)
	for _, s := range signs() {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(s.words, w) }) ||
			slices.ContainsFunc(s.parts, func(p string) bool { return strings.Contains(letters, p) }) {
			return s.what
		}
	}
	comment := strings.ToLower(c.Comment)
	words = []string{"pii", "gdpr", "personal", "sensitive", "confidential", "secret", "password", "encrypted"}
	for _, word := range words {
		if strings.Contains(comment, word) {
			return "its comment says " + word
		}
	}
	return ""
}

// secretive reports whether a table holds nothing but secrets, by its name.
func secretive(table string) bool {
	_, letters := wordsOf(table)
	parts := []string{"secret", "password", "credential", "token", "session", "apikey", "privatekey", "oauth"}
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(letters, p) })
}

// wordsOf splits a name at underscores, other signs and capitals: cardLast4 and card_last4 alike.
func wordsOf(name string) (words []string, letters string) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	lower := false // the last rune was a small letter
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush()
			lower = false
			continue
		case unicode.IsUpper(c) && lower:
			flush()
		}
		lower = unicode.IsLower(c)
		b.WriteRune(unicode.ToLower(c))
	}
	flush()
	for _, w := range words { // card4, key1
		if trimmed := strings.TrimRight(w, "0123456789"); trimmed != w && trimmed != "" {
			words = append(words, trimmed)
		}
		if trimmed := strings.TrimSuffix(w, "s"); trimmed != w {
			words = append(words, trimmed)
		}
	}
	return words, strings.ToLower(strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) {
			return c
		}
		return -1
	}, name))
}

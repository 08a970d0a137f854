package access

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"adshard/fault"
)

// Tokens holds the tokens of admin ports, as hashes. The zero value has none.
type Tokens struct{ list []token }

type token struct {
	who  Identity
	hash TokenHash
}

// TokenHash is the stored form of a token.
type TokenHash [sha256.Size]byte

// HashToken returns the hash of a token.
func HashToken(text string) TokenHash { return sha256.Sum256([]byte(text)) }

const (
	// MinToken is the least length of a token, in bytes.
	MinToken = 20
	// maxTokens bounds the tokens of a file.
	maxTokens = 1000
)

// ParseTokens reads lines "ROLE NAME TOKEN", of the roles operator and reader. Empty lines and
// those that begin with # are skipped. Errors: fault.Invalid with the number of the line, never
// with its text.
func ParseTokens(text []byte) (Tokens, error) {
	const op = "access: read tokens"
	var out Tokens
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 3 {
			return Tokens{}, fault.Newf(fault.Invalid, op, "line %d has %d words; write ROLE NAME TOKEN", n, len(fields))
		}
		who := Identity{Role: Role(fields[0]), Name: fields[1]}
		switch {
		case who.Role != Operator && who.Role != Reader:
			return Tokens{}, fault.Newf(fault.Invalid, op, "line %d does not begin with a role that has tokens: write operator or reader", n)
		case CheckName("name", who.Name) != nil:
			return Tokens{}, fault.Newf(fault.Invalid, op, "line %d does not have a name as its second word", n)
		case len(fields[2]) < MinToken:
			return Tokens{}, fault.Newf(fault.Invalid, op, "line %d has a token of %d bytes; at least %d are needed (`openssl rand -hex 32`)",
				n, len(fields[2]), MinToken)
		}
		if len(out.list) == maxTokens {
			return Tokens{}, fault.Newf(fault.Invalid, op, "there are more than %d tokens", maxTokens)
		}
		out.list = append(out.list, token{who, HashToken(fields[2])})
	}
	if err := lines.Err(); err != nil {
		return Tokens{}, fault.Newf(fault.Invalid, op, "a line is too long")
	}
	return out, nil
}

// Find returns the identity that a token belongs to. It takes the same time for all tokens of the
// same length.
func (t Tokens) Find(text string) (who Identity, ok bool) { return t.FindHash(HashToken(text)) }

// FindHash is like Find, for a token whose hash is known.
func (t Tokens) FindHash(hash TokenHash) (who Identity, ok bool) {
	for i := range t.list {
		if subtle.ConstantTimeCompare(hash[:], t.list[i].hash[:]) == 1 {
			who, ok = t.list[i].who, true
		}
	}
	return who, ok
}

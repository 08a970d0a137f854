package admin

import (
	"net/http"
	"strings"

	"adshard/fault"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi"
)

// weak is the prefix of an ETag that promises only that two states are equivalent. A proxy that compresses
// answers makes ETags weak.
const weak = "W/"

// ifMatch returns the ETag that the entity must have, or "" if any will do. Errors: fault.Invalid, and an error
// with status 412 for a weak ETag: If-Match compares strongly, and a weak ETag never matches then (RFC 9110,
// 13.1.1 and 8.8.3.2).
func ifMatch(r *http.Request, verb data.Verb) (string, error) {
	tag, err := header(r, "If-Match")
	bare, isWeak := strings.CutPrefix(tag, weak)
	switch {
	case err != nil || tag == "":
		return "", err
	case verb == data.Create:
		return "", fault.Field("admin", "If-Match", "what is created has no ETag yet")
	case tag == "*":
		return "", nil // an entity that is missing is not changed anyway
	case !isETag(bare):
		return "", fault.Field("admin", "If-Match", "If-Match must be one ETag as it was answered, in its quotes")
	case isWeak:
		return "", httpapi.PreconditionFailed("%s is a weak ETag, which If-Match never agrees with: send the entity's own, the field `etag`"+
			" (a proxy that compresses answers makes those in headers weak)", tag)
	}
	return tag, nil
}

// isETag reports whether a tag is a strong one of the characters that RFC 9110, section 8.8.3, allows.
func isETag(tag string) bool {
	if len(tag) < 2 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		return false
	}
	return !strings.ContainsFunc(tag[1:len(tag)-1], func(r rune) bool { return r <= ' ' || r == '"' || r > '~' })
}

// has reports whether the client already has the state with this ETag: If-None-Match compares weakly (RFC 9110,
// 13.1.2). The ETags of this server have no comma, so a comma in a foreign ETag does no harm.
func has(r *http.Request, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, weak) == etag {
			return true
		}
	}
	return false
}

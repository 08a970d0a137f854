package openloop

import (
	"net/url"
	"strings"

	"adshard/search"
)

// Target makes the request target of a query with further parameters; false: a
// cluster would not take it.
func Target(query string, more url.Values) (string, bool) {
	if _, err := search.Expand(query, search.Identical, nil); err != nil || strings.TrimSpace(query) == "" {
		return "", false
	}
	target := "/v1/search?q=" + url.QueryEscape(query)
	if len(more) > 0 {
		target += "&" + more.Encode()
	}
	return target, true
}

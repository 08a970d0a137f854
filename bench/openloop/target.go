package openloop

import (
	"encoding/json"
	"net/url"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// Target is a request: a GET of a path with its parameters, or with a body a POST of JSON.
type Target struct{ Path, Body string }

// Search makes the request of a query with further parameters, with placements a POST (api.BodyOf); false: a
// cluster would not take it.
func Search(query string, more url.Values) (Target, bool) {
	if _, err := search.Expand(query, search.Identical, nil); err != nil || strings.TrimSpace(query) == "" {
		return Target{}, false
	}
	if more.Has("placement") {
		body := api.BodyOf(more)
		body["q"] = query
		text, err := json.Marshal(body)
		return Target{"/v1/search", string(text)}, err == nil
	}
	target := "/v1/search?q=" + url.QueryEscape(query)
	if len(more) > 0 {
		target += "&" + more.Encode()
	}
	return Target{Path: target}, true
}

package openloop

import (
	"encoding/json"
	"net/url"
	"strings"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// Target is a request: a GET of a path with its parameters or, with a body, a POST of JSON.
type Target struct{ Path, Body string }

// longestPath is the largest length of a path with its parameters: servers bound the head of a
// request.
const longestPath = 8 << 10

// Search makes the request for a query with further parameters. It is a POST (api.BodyOf) if
// there are placements or the parameters are long. ok is false if a cluster would refuse the
// query.
func Search(query string, more url.Values) (Target, bool) {
	if _, err := search.Expand(query, search.Identical, nil); err != nil || strings.TrimSpace(query) == "" {
		return Target{}, false
	}
	target := "/v1/search?q=" + url.QueryEscape(query)
	if len(more) > 0 {
		target += "&" + more.Encode()
	}
	if more.Has("placement") || len(target) > longestPath {
		body := api.BodyOf(more)
		body["q"] = query
		text, err := json.Marshal(body)
		return Target{"/v1/search", string(text)}, err == nil
	}
	return Target{Path: target}, true
}

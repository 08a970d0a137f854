package api

import (
	"encoding/json"
	"net/url"
	"strings"
)

// BodyOf returns the body of a search from the parameters of a query string: those of GET /v1/search, and also per_advertiser and, as
// JSON and once for each placement, placement. Invalid values are kept: the server reports what is wrong with them.
func BodyOf(q url.Values) map[string]any {
	body, names := make(map[string]any, len(q)), new(SearchParams)
	for name, values := range q {
		if len(values) == 0 {
			continue
		}
		field := names.BodyName(name)
		switch name {
		case "slots", "timeout_ms", "per_advertiser", "strict", "block_uncategorised", "why_empty":
			body[field] = jsonOrText(values[0])
		case "location", "interest_location", "block_advertiser":
			body[field] = jsonOrTexts(values)
		case "language", "audience", "block", "block_domain", "block_category":
			body[field] = values
		case "point":
			lat, lon, _ := strings.Cut(values[0], ",")
			body[field] = map[string]json.RawMessage{"lat": jsonOrText(lat), "lon": jsonOrText(lon)}
		case "placement":
			body[placementsField] = jsonOrTexts(values)
		default:
			body[field] = values[0]
		}
	}
	return body
}

func jsonOrTexts(values []string) []json.RawMessage {
	out := make([]json.RawMessage, len(values))
	for i, v := range values {
		out[i] = jsonOrText(v)
	}
	return out
}

// jsonOrText returns a text as JSON if it is JSON, or else as a JSON string.
func jsonOrText(s string) json.RawMessage {
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	text, _ := json.Marshal(s) // a string can always be encoded
	return text
}

package up

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/apitest"
)

// bodies has for each call with a body in JSON one that could be taken, of one field on a line.
var bodies = map[string]string{
	"POST /v1/search":                "\"q\":\"usb\"\n\"slots\":1",
	"POST /v1/events":                "\"events\":[{\"kind\":\"click\",\"token\":\"x\"}]",
	"POST /v1/campaigns/{id}/budget": "\"exhausted\":false\n\"share_ppm\":1000000",
	"POST /v1/slaves":                "\"address\":\"127.0.0.1:1\"",
	"POST /v1/balance/move":          "\"slice\":1\n\"slave\":\"none\"",
	"POST /v1/balance/strategy":      "\"name\":\"hash\"\n\"options\":{}",
	"POST /v1/balance/replicas":      "\"replicas\":1",
	"POST /v1/blocklists":            "\"name\":\"other\"", "PATCH /v1/blocklists/{name}": "\"block_uncategorised\":true",
	"POST /v1/batch":       "\"operations\":[{\"op\":\"remove\",\"type\":\"advertiser\",\"id\":1000000}]",
	"POST /v1/advertisers": "\"name\":\"other\"", "PATCH /v1/advertisers/{id}": "\"status\":\"paused\"",
	"POST /v1/campaigns": "\"advertiser_id\":1\n\"name\":\"other\"", "PATCH /v1/campaigns/{id}": "\"status\":\"paused\"",
	"POST /v1/groups": "\"campaign_id\":1\n\"name\":\"other\"", "PATCH /v1/groups/{id}": "\"status\":\"paused\"",
	"POST /v1/keywords": "\"group_id\":1\n\"text\":\"other\"\n\"match_type\":\"broad\"", "PATCH /v1/keywords/{id}": "\"status\":\"paused\"",
	"POST /v1/negatives": "\"campaign_id\":1\n\"text\":\"other\"\n\"match_type\":\"broad\"", "PATCH /v1/negatives/{id}": "\"status\":\"paused\"",
	"POST /v1/ads": "\"group_id\":1\n\"headlines\":[\"h\"]\n\"descriptions\":[\"d\"]\n\"final_url\":\"https://b.example/\"", "PATCH /v1/ads/{id}": "\"status\":\"paused\"",
}

// spoilt returns what a body of some fields must not be: a proxy that has looked at it may have read another one.
func spoilt(fields []string) map[string]string {
	all := strings.Join(fields, ",")
	name, _, _ := strings.Cut(fields[0], ":")
	out := map[string]string{
		"something after it":      "{" + all + "} {}",
		"half a surrogate":        "{" + all + `,"\ud800":1}`,
		"a byte that is no UTF-8": "{" + all + ",\"\xff\":1}",
		"an unknown field":        "{" + all + `,"unheard":1}`,
		"a name in capitals":      "{" + strings.Replace(all, name, strings.ToUpper(name), 1) + "}",
		"no end":                  "{" + all,
		"a list":                  "[{" + all + "}]",
	}
	for _, f := range fields {
		out["twice "+f] = "{" + all + "," + f + "}"
		escaped := "\"\\u00" + hex(f[1]) + f[2:] // the same name, written otherwise
		out["twice, with an escape, "+f] = "{" + all + "," + escaped + "}"
	}
	return out
}

func hex(b byte) string { return string("0123456789abcdef"[b>>4]) + string("0123456789abcdef"[b&15]) }

// testBodies: all ports read bodies with one strict reader.
func (c *cluster) testBodies(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	base := map[string]string{"public": c.url, "events": c.collector(t)}
	paths, _ := d.At("paths").(map[string]any)
	if len(paths) == 0 {
		t.Fatal("the document has no paths")
	}
	tried := make(map[string]bool)
	for path := range paths {
		for _, method := range []string{"post", "patch", "put", "delete"} {
			if d.At("paths", path, method, "requestBody", "content", "application/json") == nil {
				continue
			}
			call := strings.ToUpper(method) + " " + path
			body, known := bodies[call]
			if !known {
				t.Errorf("%s takes a body that is not tried here", call)
				continue
			}
			tried[call] = true
			tags, _ := d.At("paths", path, method, "tags").([]any)
			at := c.admin
			if len(tags) > 0 && base[tags[0].(string)] != "" {
				at = base[tags[0].(string)]
			}
			url := at + strings.NewReplacer("{id}", "1", "{name}", "1").Replace(path)
			if owned := []string{"/v1/keywords/{id}", "/v1/negatives/{id}", "/v1/ads/{id}"}; slices.Contains(owned, path) {
				url += "?group=1"
			}
			for what, text := range spoilt(strings.Split(body, "\n")) {
				if status, answer := send(t, strings.ToUpper(method), url, text); status != http.StatusBadRequest ||
					strings.HasPrefix(what, "twice") && !strings.Contains(answer, "more than once") {
					t.Errorf("%s with %s: %d %s", call, what, status, answer)
				}
			}
			if status, answer := send(t, strings.ToUpper(method), url, "{"+strings.ReplaceAll(body, "\n", ",")+"}"); status == http.StatusBadRequest {
				t.Errorf("%s is refused with a good body: %s", call, answer)
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(tried)), slices.Sorted(maps.Keys(bodies)); !slices.Equal(got, want) {
		t.Errorf("tried %q of %q", got, want)
	}
}

// send sends a body in JSON and returns status and answer.
func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

package searchapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/wire"
	"adshard/search"
)

// tagged records the tags of the searches that it answers.
type tagged struct {
	fake
	tags []search.Tags
}

func (s *tagged) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	s.tags = append(s.tags, r.Tags)
	return s.fake.Search(ctx, r)
}

// TestPriorityAndTenant: the headers reach the slaves, both over HTTP and as tags of Ask. Invalid
// headers are refused.
func TestPriorityAndTenant(t *testing.T) {
	s := &tagged{fake: fake{answer: whole()}}
	c := configured(&s.fake)
	c.Searcher = s
	h := New(c)
	ask := func(headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/v1/search?q=a", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, headers := range [][]string{nil, {"X-Priority", "normal"}, {"x-priority", "low", "X-Tenant", "Müller"}} {
		if w := ask(headers...); w.Code != http.StatusOK {
			t.Errorf("%q: %d %s", headers, w.Code, w.Body)
		}
	}
	own, b := search.Tags{Low: true, Tenant: "grpc"}, api.NewSearchBody()
	b.Q = "a"
	if _, err := h.Ask(t.Context(), b, own, ""); err != nil {
		t.Fatal(err)
	}
	want := []search.Tags{{}, {}, {Low: true, Tenant: "Müller"}, own}
	if len(s.tags) != len(want) {
		t.Fatalf("%+v", s.tags)
	}
	for i := range want {
		if s.tags[i] != want[i] {
			t.Errorf("search %d has the tags %+v, want %+v", i, s.tags[i], want[i])
		}
	}
	for field, headers := range map[string][]string{
		"X-Priority": {"X-Priority", "urgent"}, "X-Tenant": {"X-Tenant", strings.Repeat("x", wire.MaxTenant+1)},
	} {
		w := ask(headers...)
		refused(t, field, w.Result(), w.Body.String(), http.StatusBadRequest, api.ErrorCodeInvalid, field)
	}
	for _, name := range []string{"X-Priority", "X-Tenant"} {
		if w := ask(name, "low", name, "low"); w.Code != http.StatusBadRequest {
			t.Errorf("%s twice: %d", name, w.Code)
		}
	}
	if w := ask("X-Tenant", "\xff"); w.Code != http.StatusBadRequest {
		t.Errorf("a tenant that is not UTF-8: %d", w.Code)
	}
}

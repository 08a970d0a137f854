package data

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/fault"
	"adshard/ingest"
	"adshard/internal/node/nodetest"
)

// TestTargeting: each property of targeting can be imported and set over the API in its JSON form, read, exported and erased. The
// error for an invalid value names the field.
func TestTargeting(t *testing.T) {
	d := nodetest.NewDatabase(t)
	s := New(d.DB, nil, slog.New(slog.DiscardHandler))
	_, err := s.Import(t.Context(), &Import{File: []byte(`{"type":"group","advertiser":"A","campaign":"C","name":"G"}` + "\n"), Name: "f.jsonl"})
	d.Must(err)
	o, err := ParseOperation(Operation{Verb: Update, Key: campaign1}, []byte(`{"locations":[{"id":2203},{"id":4}]}`))
	d.Must(err)
	if _, err := s.Change(t.Context(), &Request{Operations: []*Operation{o}}); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "locations" {
		t.Errorf("a place that is not in the table: %v", err)
	}
	for _, c := range []struct {
		key                       Key
		field, said, kept, refuse string
	}{
		{campaign1, "start_date", `" 2026-03-31 "`, `"2026-03-31"`, `"31.3.2026"`},
		{campaign1, "end_date", `"2026-03-31"`, `"2026-03-31"`, `"2026-02-30"`},
		{campaign1, "schedule", `[{"to":"18:00","from":"08:00","day":"Monday","modifier_percent":20.0}]`,
			`[{"day":"monday","from":"08:00","to":"18:00","modifier_percent":20}]`, `[{"day":"monday"}]`},
		{campaign1, "locations", `[{"id":2840,"exclude":true}, {"id":2203}]`, `[{"id":2203},{"id":2840,"exclude":true}]`, `{"id":2203}`},
		{campaign1, "location_method", `"presence"`, `"presence"`, `"everywhere"`},
		{campaign1, "location_exclusion_method", `"Presence"`, `"presence"`, `[]`},
		{campaign1, "audiences", `{"target":[{"id":"b"},{"id":"a"}],"observe":[]}`, `{"target":[{"id":"a"},{"id":"b"}]}`, `"a"`},
		{campaign1, "sites", `{"include":[{"site":"WWW.a.example/"}]}`, `{"include":[{"site":"a.example"}]}`, `{"include":["a.example"]}`},
		{campaign1, "categories", `["b","a","b"]`, `["a","b"]`, `["A"]`},
		{Key{Type: backend.EntityGroup, ID: 1}, "audiences", `{"exclude":[{"id":"<b>"}]}`, `{"exclude":[{"id":"<b>"}]}`, `[]`},
		{Key{Type: backend.EntityGroup, ID: 1}, "sites", `{"exclude":[{"site":"b.example/x%7ey"}]}`, `{"exclude":[{"site":"b.example/x~y"}]}`, `[1]`},
		{Key{Type: backend.EntityAdvertiser, ID: 1}, "categories", `["a"]`, `["a"]`, `{}`},
	} {
		change := func(value string) (string, string, error) {
			o, err := ParseOperation(Operation{Verb: Update, Key: c.key}, []byte(`{"`+c.field+`":`+value+`}`))
			if err == nil {
				_, err = s.Change(t.Context(), &Request{Operations: []*Operation{o}})
			}
			got, err2 := s.Get(t.Context(), c.key)
			d.Must(err2)
			raw, err2 := json.Marshal(got.Item)
			d.Must(err2)
			var fields map[string]json.RawMessage
			d.Must(json.Unmarshal(raw, &fields))
			return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(fields[c.field])), got.Item.Etag, err
		}
		_, before, _ := change(`null`)
		now, tag, err := change(c.said)
		if err != nil || now != c.kept || tag == before {
			t.Errorf("%s %s is kept as %s with %s after %s (%v), want %s", c.field, c.said, now, tag, before, err, c.kept)
		}
		if line := lineOf(t, d, c.key); !strings.Contains(line, `"`+c.field+`":`+c.kept) {
			t.Errorf("%s is exported as %s", c.field, line)
		}
		if now, _, err := change(c.refuse); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != c.field || now != c.kept {
			t.Errorf("%s %s leaves %s (%v)", c.field, c.refuse, now, err)
		}
		empty := map[byte]string{'[': "[]", '{': "{}", '"': "null"}[c.kept[0]]
		if now, tag, err := change(empty); err != nil || now != "" || c.key == campaign1 && tag != before {
			t.Errorf("%s %s leaves %s with %s after %s (%v)", c.field, empty, now, tag, before, err)
		}
	}
}

var campaign1 = Key{Type: backend.EntityCampaign, ID: 1}

// lineOf returns the exported line of the entity with id 1.
func lineOf(t *testing.T, d *nodetest.Database, key Key) string {
	read := backendtest.ReadNow(t, d.DB)
	switch key.Type {
	case backend.EntityAdvertiser:
		a := read.Advertisers[1]
		return string(ingest.AppendAdvertiser(nil, &a))
	case backend.EntityCampaign:
		c := read.Campaigns[1]
		return string(ingest.AppendCampaign(nil, ingest.Owners{}, &c))
	}
	it := read.Items[1]
	return string(ingest.AppendItem(nil, ingest.Owners{}, &it))
}

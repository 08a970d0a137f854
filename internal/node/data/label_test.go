package data

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/nodedata"
	"adshard/balance"
	"adshard/ingest"
	"adshard/internal/node/nodetest"
)

// TestLabels: a campaign's label can be imported from files and lines, read and changed over the API, and is exported
// unchanged. Slaves do not receive it.
func TestLabels(t *testing.T) {
	d := nodetest.NewDatabase(t)
	s := New(d.DB, nil, slog.New(slog.DiscardHandler))
	_, err := s.Import(t.Context(), &Import{File: []byte("Account,Campaign,Campaign label\nAcme,Cables,of spring\nAcme,Plugs,\nAcme,Long," +
		strings.Repeat("x", 1025) + "\n")})
	d.Must(err)
	key := Key{Type: backend.EntityCampaign, ID: 1}
	get := func() (label, tag string) {
		it, err := s.Get(t.Context(), key)
		d.Must(err)
		return it.Item.Label, it.Item.Etag
	}
	label, tag := get()
	if label != "of spring" {
		t.Errorf("the label is %q", label)
	}
	read := backendtest.ReadNow(t, d.DB)
	if len(read.Campaigns) != 2 || read.Campaigns[2].Label != "" {
		t.Errorf("%+v", read.Campaigns)
	}
	labelled, plain := read.Campaigns[1], read.Campaigns[1]
	plain.Label = ""
	records := nodedata.New(balance.ByOwner)
	one, err := records.Campaign(&labelled)
	d.Must(err)
	other, err := records.Campaign(&plain)
	d.Must(err)
	if !proto.Equal(one, other) {
		t.Error("slaves get the label")
	}
	line := string(ingest.AppendCampaign(nil, ingest.Owners{Advertiser: "Acme"}, &labelled))
	var rows bytes.Buffer
	if _, err := ingest.WriteEditorFile(&rows, strings.NewReader(`{"type":"advertiser","name":"Acme"}`+"\n"+line)); err != nil ||
		!strings.Contains(line, `"label":"of spring"`) || !strings.Contains(rows.String(), "of spring") {
		t.Errorf("exported are %s and %s (%v)", line, &rows, err)
	}
	for _, change := range []struct{ body, label string }{{`{"label":"of autumn"}`, "of autumn"}, {`{"label":null}`, ""}} {
		o, err := ParseOperation(Operation{Verb: Update, Key: key}, []byte(change.body))
		d.Must(err)
		_, err = s.Change(t.Context(), &Request{Operations: []*Operation{o}})
		d.Must(err)
		now, next := get()
		if now != change.label || next == tag {
			t.Errorf("%s leaves %q, %s after %s", change.body, now, next, tag)
		}
		tag = next
	}
	if _, err := ParseOperation(Operation{Verb: Update, Key: key}, []byte(`{"label":"`+strings.Repeat("x", 1025)+`"}`)); err == nil {
		t.Error("a label of 1,025 bytes is taken")
	}
}

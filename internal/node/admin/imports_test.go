package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"adshard/internal/node/data"
	"adshard/internal/node/httpapi/api"
)

// editorFile creates a campaign, changes a bid, removes a keyword, and has two wrong rows.
const editorFile = `Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Status
Acme,Cables,USB,usb cable,Broad,0.75,
Acme,Cables,USB,usb hub,Broad,,Removed
Acme,Shoes,,,,,Paused
Acme,Cables,USB,usb stick,Broad,12000,
Acme,Cables,,usb stick,Broad,1,
`

const beforeFile = `{"type":"keyword","advertiser":"Acme","campaign":"Cables","group":"USB","text":"usb cable","match_type":"broad","max_cpc_micros":500000}
{"type":"keyword","advertiser":"Acme","campaign":"Cables","group":"USB","text":"usb hub","match_type":"broad"}
{"type":"campaign","advertiser":"Other","name":"Cables"}
`

// file sends a file.
func (w *world) file(query, content string, header ...string) (reply, api.ImportAnswer) {
	w.T.Helper()
	a := w.ask(http.MethodPost, "/v1/imports"+query, content, append([]string{"Content-Type", "application/octet-stream"}, header...)...)
	var v api.ImportAnswer
	if a.status == http.StatusOK {
		w.Must(json.Unmarshal([]byte(a.body), &v))
	}
	return a, v
}

// TestImports: a dry run changes nothing, and reports what the import then does, cell by cell.
func TestImports(t *testing.T) {
	w := newWorld(t)
	if a, v := w.file("", beforeFile); a.status != 200 || v.Rejected != 0 || v.MinClock == "" {
		t.Fatal(a)
	}
	before := w.clock()
	a, dry := w.file("?dry_run=true&file=ads.csv", editorFile)
	if a.status != 200 || w.clock() != before || dry.Rows != 5 || dry.Rejected != 2 || dry.Different != 3 || dry.MinClock != "" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	said := make(map[string]string)
	for _, d := range dry.Differences {
		said[fmt.Sprint(d.Effect, " ", d.Type, " ", d.Advertiser, "/", d.Campaign, "/", d.Group)] = fmt.Sprint(d.Fields)
	}
	for key, field := range map[string]string{
		"updated keyword Acme/Cables/USB": "{max_cpc_micros 500000 750000}", "removed keyword Acme/Cables/USB": `{text "usb hub" }`,
		"created campaign Acme/Shoes/": `{status  "paused"}`,
	} {
		if !strings.Contains(said[key], field) {
			t.Errorf("%s: %q, want %s", key, said[key], field)
		}
	}
	if r := dry.Rejects; len(r) != 2 || r[0].Row != 5 || r[0].Column != "Max CPC" || r[1].Row != 6 || r[1].Column != "Ad Group" {
		t.Errorf("rejects %+v", r)
	} else {
		for i, want := range []string{"{Max CPC 12000 true}", "{Ad Group  true}"} {
			if got := fmt.Sprint(r[i].Cells); !strings.Contains(got, want) || strings.Count(got, "true") != 1 || !strings.Contains(got, "{Keyword usb stick false}") {
				t.Errorf("cells %s, want %s", got, want)
			}
		}
	}
	a, done := w.file("?file=ads.csv", editorFile)
	if a.status != 200 || done.DryRun || fmt.Sprint(done.Entities) != fmt.Sprint(dry.Entities) || len(done.Differences) > 0 || w.clock() == before {
		t.Errorf("the import: %s\nthe dry run: %+v", a.body, dry.Entities)
	}
	if !strings.Contains(w.log.String(), `msg="changed through the admin port" method=POST path=/v1/imports by="operator alice"`) {
		t.Error(w.log.String())
	}
	if _, again := w.file("?dry_run=true", editorFile); again.Different != 0 || again.Rejected != 2 {
		t.Errorf("again: %+v", again)
	}
	var list api.ImportList
	w.Must(json.Unmarshal([]byte(w.must("GET", "/v1/imports", "").body), &list))
	if len(list.Imports) != 2 || list.Imports[0].File != "ads.csv" || list.Imports[0].By != "operator alice" || list.Imports[0].Removed != 1 || list.Imports[0].Rejected != 2 {
		t.Errorf("%+v", list)
	}
}

func TestWrongImports(t *testing.T) {
	w := newWorld(t)
	before := w.clock()
	for name, v := range map[string]struct {
		query, content string
		header         []string
		status         int
	}{
		"no header":         {"", "nothing of the kind\n1\n", nil, 400},
		"no account":        {"?dry_run=true", "Campaign\nCables\n", nil, 400},
		"empty":             {"", "", nil, 400},
		"as JSON":           {"", beforeFile, []string{"Content-Type", "application/json"}, 415},
		"too large":         {"", strings.Repeat("x", data.MaxImport+1), nil, 413},
		"a wrong parameter": {"?dry_run=yes", beforeFile, nil, 400},
		"another parameter": {"?limit=1", beforeFile, nil, 400},
		"a reader":          {"?dry_run=true", beforeFile, []string{"Authorization", "Bearer " + readerToken}, 403},
	} {
		if a, _ := w.file(v.query, v.content, v.header...); a.status != v.status {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for _, dry := range []string{"true", "false"} {
		if a, _ := w.file("?advertiser_name=A%00B&dry_run="+dry, "Campaign\nCables\n"); a.status != 400 || !strings.Contains(a.body, `"field":"advertiser_name"`) {
			t.Errorf("a wrong name: %d %s", a.status, a.body)
		}
	}
	if w.clock() != before {
		t.Error("something was changed")
	}
	if a, v := w.file("?advertiser_name=Acme", "Campaign\nCables\n"); a.status != 200 || v.Entities[1].Created != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestDryRunWarnsOfNames: a dry run warns of names that resemble those of advertisers that the file
// does not name, as the import itself does.
func TestDryRunWarnsOfNames(t *testing.T) {
	w := newWorld(t)
	w.file("", beforeFile)
	const near = "Account,Campaign\nAcmee,Cables\n"
	_, dry := w.file("?dry_run=true", near)
	_, done := w.file("", near)
	if len(dry.Warnings) != 1 || !strings.Contains(dry.Warnings[0].Text, "Acme") || fmt.Sprint(dry.Warnings) != fmt.Sprint(done.Warnings) {
		t.Errorf("the dry run warns %+v, the import %+v", dry.Warnings, done.Warnings)
	}
}

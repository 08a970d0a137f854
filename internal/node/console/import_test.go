package console_test

import (
	"bytes"
	"encoding/base64"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"adshard/ingest"
	"adshard/internal/node/data"
)

const csv = `Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC
Čapek <& Söhne>,Cables,USB,usb cable,Broad,0.75
Čapek <& Söhne>,Cables,USB,usb <stick>,Broad,12000
`

// upload sends a form, with a file unless `file` is "".
func (b *browser) upload(file string, fields map[string]string, header ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for name, v := range fields {
		_ = m.WriteField(name, v)
	}
	if file != "" {
		part, _ := m.CreateFormFile("file", "ads <1>.csv")
		_, _ = io.WriteString(part, file)
	}
	_ = m.Close()
	r := httptest.NewRequestWithContext(b.t.Context(), http.MethodPost, "http://localhost:7001/console/import", &body)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	w := httptest.NewRecorder()
	b.port.ServeHTTP(w, r)
	return w
}

// TestImport: a file is previewed first, and then the same file is imported.
func TestImport(t *testing.T) {
	db, with := fill(t, shop, nil)
	p := newPort(t, true, with)
	b := &browser{t: t, port: p}
	signIn(t, b, operatorToken)
	has(t, b.get("/console/data"), 200, `href="/console/import"`)
	has(t, b.get("/console/import"), 200, "Nothing was imported on this page since", `type="file"`)
	w := b.upload(csv, nil)
	has(t, w, 200, "ads &lt;1&gt;.csv", "2 rows: 1 entity differs; 1 row is rejected", "max cpc <del>1.234567</del> → <ins>0.75</ins>", `class="cell wrong"`, "<strong>12000</strong>", "usb &lt;stick&gt;", "over 10,000 units")
	if items, _ := read(t, db); items.Keywords[0].Bid != 1_234_567 {
		t.Fatal("a preview has changed something")
	}
	content := regexp.MustCompile(`name="content" value="([^"]*)"`).FindStringSubmatch(w.Body.String())
	if content == nil {
		t.Fatal("the preview has no file")
	}
	form := map[string]string{"apply": "yes", "name": "ads.csv", "advertiser": "", "content": strings.ReplaceAll(content[1], "&#43;", "+")}
	w = b.upload("", form)
	if to := w.Header().Get("Location"); w.Code != 303 || to != "/console/import?done=imported" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if items, _ := read(t, db); items.Keywords[0].Bid != 750_000 || len(items.Keywords) != 2 {
		t.Errorf("%+v", items.Keywords)
	}
	has(t, b.get("/console/import?done=imported"), 200, "The file is imported.", "ads.csv", "operator alice", "Served after", " ms</td>")
	const negative = "Account,Campaign,Ad Group,Keyword,Criterion Type\nČapek <& Söhne>,Cables,USB,cable,Negative Broad\n"
	has(t, b.upload(negative, nil), 200, "would block their own keywords", "1 pair in the data", "usb cable <span", `<td data-l="Of the">group</td>`)
	if !strings.Contains(p.log.String(), `msg="changed through the admin port" method=POST path=/v1/imports by="operator alice"`) {
		t.Error(p.log.String())
	}
	w = b.upload("Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC\nČapek <& Söhne>,Cables,USB,usb cable,Broad,0.75\n", nil)
	has(t, w, 200, "the file changes nothing")
	lacks(t, w, `name="content"`)

	has(t, b.upload("", nil), 400, "Choose a file")
	has(t, b.upload("what is this\n", nil), 400, `role="alert"`)
	has(t, b.upload("", map[string]string{"apply": "yes", "content": "%"}), 400, "has no file")
	has(t, b.upload("", map[string]string{"apply": "yes", "content": base64.StdEncoding.EncodeToString(make([]byte, data.MaxImport+1))}), 413, `role="alert"`)
	has(t, b.upload(strings.Repeat("x", 3<<20), nil), 400, "more than 1 MiB")

	reader := &browser{t: t, port: p}
	signIn(t, reader, readerToken)
	w = reader.get("/console/import")
	has(t, w, 200, "ads.csv")
	lacks(t, w, "<form class=\"lab\"", "Preview</button>")
	has(t, reader.upload(csv, nil), 403)
}

// TestPreviewExplains: a preview shows how the file is interpreted, in the form that `adshard import --explain` prints, and the notes that
// an import prints at its end.
func TestPreviewExplains(t *testing.T) {
	_, with := fill(t, shop, nil)
	b := &browser{t: t, port: newPort(t, true, with)}
	signIn(t, b, operatorToken)
	const file = "sep=;\nAccount;Campaign;Ad Group;Keyword;Type;Max. CPC;Headline 1;<Notes>;Placement\nA;C;G;k;Exact;;;x;\nA;C;;;;;;;brno.example\nA;C;G;l;Exact;much;;;\nA;C;G;;;;{KeyWord:<b>};;\n"
	x, err := ingest.Explain(t.Context(), "-", ingest.Options{Stdin: strings.NewReader(file)})
	if err != nil || len(x.Columns) != 9 || len(x.Kinds) != 4 {
		t.Fatalf("%+v, %v", x, err)
	}
	w := b.upload(file, nil)
	page := html.UnescapeString(w.Body.String())
	want := []string{"It is " + x.Title(), `<td data-l="What happens">skipped</td>`, "not used: column \"<Notes>\", filled in 1 row", `1 keyword has no bid`, "1 ad is shown with the keyword's text"}
	for _, c := range x.Columns {
		want = append(want, `<th scope="row">`+c.Heading+`</th><td data-l="Read as">`+c.Use()+"</td>")
	}
	for _, k := range x.Kinds {
		want = append(want, `<th scope="row">`+k.Kind+"</th>", `<td data-l="What happens">`+k.Does.Done()+`</td><td data-l="The first">`+k.Example()+"</td>")
	}
	for _, text := range want {
		if w.Code != 200 || !strings.Contains(page, text) {
			t.Errorf("%d: %q is not on\n%s", w.Code, text, page)
		}
	}
	lacks(t, w, "<Notes>", "<b>")
}

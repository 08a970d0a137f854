package console

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"adshard/internal/money"
	"adshard/internal/node/httpapi/api"
)

// MaxForm bounds a form with a file, in bytes: the file, as it is or in base64, and the other
// fields.
const MaxForm = 2 << 20

// importing is a file to be imported, with what it would change and the earlier imports.
type importing struct {
	Name, Advertiser string
	// Content is the file in base64, so that what is imported is what was previewed.
	Content string
	Preview *api.ImportAnswer // nil if no file has been sent yet
	Imports []api.ImportRecord
}

// imports shows the form for a file.
func (c *Console) imports(w http.ResponseWriter, r *http.Request) {
	c.showImport(w, r, http.StatusOK, &importing{}, "")
}

func (c *Console) showImport(w http.ResponseWriter, r *http.Request, status int, i *importing, trouble string) {
	list, err := get[api.ImportList](c, r, "/v1/imports")
	if err != nil {
		c.refusedBy(w, r, err)
		return
	}
	i.Imports = list.Imports
	done := ""
	if r.URL.Query().Get("done") == "imported" {
		done = "The file is imported."
	}
	c.show(w, r, status, "import", page{Title: "Import", Content: i, Done: done, Trouble: trouble})
}

// importFile shows what a file would change or, once that was shown, imports the file.
func (c *Console) importFile(w http.ResponseWriter, r *http.Request) {
	i, file, err := fileOf(r)
	if err != nil {
		c.showImport(w, r, statusOf(err), &importing{}, err.Error())
		return
	}
	apply := r.PostForm.Get("apply") != ""
	q := url.Values{}
	for name, v := range map[string]string{"file": i.Name, "advertiser_name": i.Advertiser} {
		if v != "" {
			q.Set(name, v)
		}
	}
	if apply {
		q.Set("wait", "served")
		q.Set("wait_ms", servedWait)
	} else {
		q.Set("dry_run", "true")
	}
	answer := new(api.ImportAnswer)
	if err := ask(c.cfg.API, r, http.MethodPost, "/v1/imports", q, file, answer); err != nil {
		c.showImport(w, r, statusOf(err), &importing{Advertiser: i.Advertiser}, err.Error())
		return
	}
	if apply {
		http.Redirect(w, r, Root+"import?done=imported", http.StatusSeeOther)
		return
	}
	i.Content, i.Preview = base64.StdEncoding.EncodeToString(file), answer
	c.showImport(w, r, http.StatusOK, i, "")
}

// fileOf reads a file from a form, or the content of a file that was previewed. Errors: *refused.
func fileOf(r *http.Request) (*importing, []byte, error) {
	if err := r.ParseMultipartForm(MaxForm); err != nil {
		return nil, nil, &refused{http.StatusBadRequest, "The form cannot be read, or the file has more than 1 MiB: use `adshard import` for that."}
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }() // in a form of at most this size, no file is kept on disk
	i := &importing{Name: r.PostForm.Get("name"), Advertiser: strings.TrimSpace(r.PostForm.Get("advertiser"))}
	if r.PostForm.Get("apply") != "" {
		file, err := base64.StdEncoding.DecodeString(r.PostForm.Get("content"))
		if err != nil {
			return nil, nil, &refused{http.StatusBadRequest, "The form has no file."}
		}
		return i, file, nil
	}
	in, header, err := r.FormFile("file")
	if err != nil || header.Size == 0 {
		return nil, nil, &refused{http.StatusBadRequest, "Choose a file that is not empty."}
	}
	defer in.Close()
	file, err := io.ReadAll(in)
	if err != nil {
		return nil, nil, &refused{http.StatusBadRequest, "The file cannot be read: " + err.Error()}
	}
	i.Name = strings.ToValidUTF8(header.Filename[:min(len(header.Filename), maxFileName)], "")
	return i, file, nil
}

// maxFileName bounds the bytes of a file's name that are kept.
const maxFileName = 255

// changedField is a field of a difference, as people read it.
type changedField struct{ Name, Before, After string }

// newChangedField writes the name of a field in words, and amounts in units.
func newChangedField(f api.ImportField) changedField {
	name, amount := strings.CutSuffix(f.Name, "_micros")
	out := changedField{strings.ReplaceAll(name, "_", " "), f.Before, f.After}
	if amount {
		out.Before, out.After = inUnits(f.Before), inUnits(f.After)
	}
	return out
}

// inUnits writes an amount in micros in units, and null as none. Any other text stays as it is.
func inUnits(text string) string {
	micros, err := strconv.ParseUint(text, 10, 64)
	if text == "null" {
		return "none"
	}
	if err != nil {
		return text
	}
	return money.Format(micros)
}

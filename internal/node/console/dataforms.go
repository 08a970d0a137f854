package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"adshard/internal/money"
	"adshard/internal/node/httpapi/api"
)

// itemForm is the data from which a template makes an entity's forms.
type itemForm struct {
	api.Item
	// Path is the path to which the forms are sent: the path of a page, with the owner by which the
	// call finds the entity.
	Path string
	// Label names the form for screen readers.
	Label string
}

// newItemForm makes the forms of an entity.
func newItemForm(it api.Item) itemForm {
	kind := string(it.Type) + "s"
	f := itemForm{Item: it, Path: Root + "data/" + kind + "/" + strconv.FormatUint(it.ID, 10), Label: kindName(it.Type) + " " + strconv.FormatUint(it.ID, 10)}
	switch it.Type {
	case api.ItemTypeKeyword, api.ItemTypeAd, api.ItemTypeNegative:
		owner, id := "group", it.GroupID
		if id == 0 {
			owner, id = "campaign", it.CampaignID
		}
		if id == 0 {
			owner, id = "advertiser", it.AdvertiserID
		}
		f.Path += "?" + url.Values{owner: {strconv.FormatUint(id, 10)}}.Encode()
	}
	return f
}

var kindsOfForms = []string{"advertisers", "campaigns", "groups", "keywords", "negatives", "ads"}

// change makes the call that a form asks for: a PATCH of one field, if the entity is still as the
// form's page showed it.
func (c *Console) change(w http.ResponseWriter, r *http.Request) {
	kind, id := r.PathValue("kind"), r.PathValue("id")
	if !slices.Contains(kindsOfForms, kind) {
		c.fail(w, r, http.StatusNotFound, "There is no such form.")
		return
	}
	home, homeID := kind, id
	q := url.Values{"wait": {"served"}, "wait_ms": {servedWait}}
	for _, owner := range []string{"advertiser", "campaign", "group"} { // the innermost owner decides which page is shown next
		if v := r.URL.Query().Get(owner); v != "" {
			q.Set(owner, v)
			home, homeID = owner+"s", v
		}
	}
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	}
	body, err := patchOf(kind, r.PostForm)
	answer := new(api.DataChanges)
	if err == nil {
		var header []string
		if tag := r.PostForm.Get("etag"); tag != "" {
			header = []string{"If-Match", tag}
		}
		err = ask(c.cfg.API, r, http.MethodPatch, "/v1/"+kind+"/"+url.PathEscape(id), q, body, answer, header...)
	}
	if err != nil {
		c.showBranch(w, r, home, homeID, statusOf(err), troubleOf(err))
		return
	}
	done := "saved"
	if answer.Served != nil && *answer.Served {
		done = "served"
	}
	http.Redirect(w, r, Root+"data/"+home+"/"+url.PathEscape(homeID)+"?done="+done, http.StatusSeeOther)
}

// servedWait is how long a form waits for the slaves, in milliseconds.
const servedWait = "2000"

// patchOf reads a form: a status, or an amount in units, where an empty one means the default.
// Errors: *refused.
func patchOf(kind string, form url.Values) (map[string]any, error) {
	if status := form.Get("status"); status != "" {
		return map[string]any{"status": status}, nil
	}
	field, ok := api.AmountSettings[api.ItemType(strings.TrimSuffix(kind, "s"))]
	if !ok || !form.Has("amount") {
		return nil, &refused{http.StatusBadRequest, "the form does not say what is to be changed"}
	}
	text := strings.TrimSpace(form.Get("amount"))
	if text == "" {
		return map[string]any{field: nil}, nil
	}
	n, ok := money.Parse(text)
	if !ok {
		return nil, &refused{http.StatusBadRequest, strconv.Quote(text) + " is not an amount: write digits, and up to six more after a point"}
	}
	return map[string]any{field: n}, nil
}

// troubleOf returns the message that says why a change was refused.
func troubleOf(err error) string {
	var e *refused
	if errors.As(err, &e) && e.status == http.StatusPreconditionFailed {
		return "Nothing is changed: somebody else has changed it since the page was shown. It is shown as it is now."
	}
	return err.Error()
}

// dataChangeText returns the message about what a form did before this page was shown.
func dataChangeText(r *http.Request) string {
	switch r.URL.Query().Get("done") {
	case "served":
		return "Saved; all live slaves serve it."
	case "saved":
		return "Saved; slaves have yet to serve it."
	}
	return ""
}

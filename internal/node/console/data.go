package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
)

// branch is a place in the tree of advertisers' data, and what it holds.
type branch struct {
	// Path is that of this page.
	Path string
	// Owners lead here from the top; Item is what is here, nil at the top.
	Owners []api.Item
	Item   *api.Item
	Lists  []branchList
	// Find is what names or texts must hold. If it is "", everything is
	// listed.
	Find string
	// Told is its targeting in sentences, or nil if there is none.
	Told *told
	// Stopped are the names of paused owners: nothing below them is served.
	Stopped []string
}

// branchList is a part of what an entity holds.
type branchList struct {
	Kind  string // as in the path of the calls
	Items []api.Item
	// Next is where the list goes on, or "" if this is its end.
	Next string
	// Seen is how many entities were searched.
	Seen int
}

// Bounds of a page: entities that it shows, and pages of the calls that are looked through to find some.
const (
	shownItems = 100
	seenPages  = 10
	pageItems  = 1000
)

// holds lists the kinds of children of an entity, with the call's parameter for the parent.
func holds(kind string) (kinds []string, by string) {
	switch kind {
	case "":
		return []string{"advertisers"}, ""
	case "advertisers":
		return []string{"campaigns", "negatives"}, "advertiser"
	case "campaigns":
		return []string{"groups", "negatives"}, "campaign"
	case "groups":
		return []string{"keywords", "ads", "negatives"}, "group"
	}
	return nil, ""
}

// advertisers shows the top of the tree.
func (c *Console) advertisers(w http.ResponseWriter, r *http.Request) {
	c.showBranch(w, r, "", "", http.StatusOK, "")
}

// entity shows an advertiser, campaign or group.
func (c *Console) entity(w http.ResponseWriter, r *http.Request) {
	c.showBranch(w, r, r.PathValue("kind"), r.PathValue("id"), http.StatusOK, "")
}

// showBranch shows what is at a place of the tree, with what went wrong before, if anything.
func (c *Console) showBranch(w http.ResponseWriter, r *http.Request, kind, id string, status int, trouble string) {
	b, err := c.branch(r, kind, id)
	if err != nil {
		status = statusOf(err)
		c.show(w, r, status, "failed", page{Title: http.StatusText(status), Trouble: err.Error()})
		return
	}
	c.show(w, r, status, "data", page{Title: b.Title(), Content: b, Done: dataChangeText(r), Trouble: trouble})
}

// Title names what is here.
func (b *branch) Title() string {
	if b.Item == nil {
		return "Data"
	}
	return fmt.Sprintf("%s %s", capital(string(b.Item.Type)), b.Item.Name)
}

// branch reads a place of the tree. Errors are *refused.
func (c *Console) branch(r *http.Request, kind, id string) (*branch, error) {
	b := &branch{Path: Root + "data"}
	if r.Method == http.MethodGet {
		b.Find = strings.TrimSpace(r.URL.Query().Get("find"))
	}
	kinds, by := holds(kind)
	if len(kinds) == 0 {
		return nil, &refused{http.StatusNotFound, "There is no such page."}
	}
	if kind == "" && b.Find != "" {
		kinds = []string{"advertisers", "campaigns", "groups"}
	}
	if kind != "" {
		b.Path += "/" + kind + "/" + url.PathEscape(id)
		var err error
		if b.Item, err = c.itemOf(r, kind, id); err != nil {
			return nil, err
		}
		if err := c.owners(r, b); err != nil {
			return nil, err
		}
		b.Told = c.tell(r, b)
	}
	for _, k := range kinds {
		l, err := c.list(r, b, k, by)
		if err != nil {
			return nil, err
		}
		b.Lists = append(b.Lists, *l)
	}
	return b, nil
}

// itemOf reads an entity that is found without its owner.
func (c *Console) itemOf(r *http.Request, kind, id string) (*api.Item, error) {
	v, err := get[api.ItemAnswer](c, r, "/v1/"+kind+"/"+url.PathEscape(id))
	if err != nil {
		return nil, err
	}
	return &v.Item, nil
}

// owners reads the owners of an entity, and which of them is paused.
func (c *Console) owners(r *http.Request, b *branch) error {
	for _, o := range []struct {
		kind string
		id   uint64
	}{{"advertisers", b.Item.AdvertiserID}, {"campaigns", b.Item.CampaignID}} {
		if o.id == 0 {
			continue
		}
		it, err := c.itemOf(r, o.kind, strconv.FormatUint(o.id, 10))
		if err != nil {
			return err
		}
		b.Owners = append(b.Owners, *it)
		if it.Status == api.ItemStatusPaused {
			b.Stopped = append(b.Stopped, fmt.Sprintf("%s %s", it.Type, it.Name))
		}
	}
	return nil
}

// list reads a part of what is here: a page of it or, when something is to be found, as many as it
// takes, up to seenPages.
func (c *Console) list(r *http.Request, b *branch, kind, by string) (*branchList, error) {
	q := url.Values{"limit": {strconv.Itoa(shownItems)}}
	if b.Item != nil {
		q.Set(by, strconv.FormatUint(b.Item.ID, 10))
	}
	if b.Find != "" {
		q.Set("limit", strconv.Itoa(pageItems))
	}
	if at := r.URL.Query().Get(kind); at != "" && r.Method == http.MethodGet {
		q.Set("cursor", at)
	}
	out := &branchList{Kind: kind}
	numbered := uint64(0) // the entity with the number that is to be found
	if _, err := strconv.ParseUint(b.Find, 10, 64); err == nil && b.Item == nil {
		if it, err := c.itemOf(r, kind, b.Find); err == nil { // wherever it is in the list
			numbered = it.ID
			if !q.Has("cursor") {
				out.Items = append(out.Items, *it)
			}
		}
	}
	for range seenPages {
		v := new(api.ItemList)
		if err := ask(c.cfg.API, r, http.MethodGet, "/v1/"+kind, q, nil, v); err != nil {
			return nil, err
		}
		out.Next, out.Seen = v.Next, out.Seen+len(v.Items)
		for i := range v.Items {
			if v.Items[i].ID != numbered && hasText(&v.Items[i], b.Find) {
				out.Items = append(out.Items, v.Items[i])
			}
		}
		if b.Find == "" || v.Next == "" || len(out.Items) >= shownItems {
			break
		}
		q.Set("cursor", v.Next)
	}
	if out.Next != "" {
		out.Next = b.Path + "?" + url.Values{"find": {b.Find}, kind: {out.Next}}.Encode()
	}
	return out, nil
}

// hasText reports whether an entity has a text in its name or what it says, or is that number.
func hasText(it *api.Item, find string) bool {
	if find == "" || find == strconv.FormatUint(it.ID, 10) {
		return true
	}
	texts := append([]string{it.Name, it.Text, it.FinalURL}, it.Headlines...)
	text := strings.ToLower(strings.Join(append(texts, it.Descriptions...), "\n"))
	return strings.Contains(text, strings.ToLower(find))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

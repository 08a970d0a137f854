package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"adshard/internal/node/httpapi/api"
)

// branch is a node in the tree of advertisers' data, with its contents.
type branch struct {
	// Path is the path of this page.
	Path string
	// Owners are the owners of the node, from the top down. Item is its entity, or nil at the top.
	Owners []api.Item
	Item   *api.Item
	Lists  []branchList
	// Find is the text that names or texts must contain. If it is "", everything is listed.
	Find string
	// Told describes the entity's targeting in sentences; it is nil if it has none.
	Told *told
	// Stopped has the names of paused owners: nothing below them is served.
	Stopped []string
	// Spent is what the campaigns of an advertiser have spent today. It is nil if that is not known of all of them.
	Spent *uint64

	order order
}

// branchList lists the children of one kind.
type branchList struct {
	Kind  string // as in the paths of the calls
	Items []api.Item
	// Next is the cursor of the next page, or "" if this is the last.
	Next string
	// Seen is the number of entities that were searched or sorted, and Hidden how many of them come after those shown.
	Seen, Hidden int
	Columns      []column
}

// Count returns how many entities a list has, as far as that is known.
func (l *branchList) Count() string {
	text := count(len(l.Items) + l.Hidden)
	if l.Next != "" {
		text += "+"
	}
	return text
}

// Bounds of a page: the entities shown, the pages of the calls that are searched for them, and the
// entities on each of those.
const (
	shownItems = 100
	seenPages  = 10
	pageItems  = 1000
)

// holds returns the kinds of children that an entity has, and the name of the calls' parameter for the
// parent.
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

// showBranch shows the page of a node in the tree. `trouble` says what went wrong before, or is "".
func (c *Console) showBranch(w http.ResponseWriter, r *http.Request, kind, id string, status int, trouble string) {
	b, err := c.branch(r, kind, id)
	if err != nil {
		status = statusOf(err)
		c.show(w, r, status, "failed", page{Title: http.StatusText(status), Trouble: err.Error()})
		return
	}
	c.show(w, r, status, "data", page{Title: b.Title(), Content: b, Done: dataChangeText(r), Trouble: trouble})
}

// Title returns the title of the page.
func (b *branch) Title() string {
	if b.Item == nil {
		return "Data"
	}
	return fmt.Sprintf("%s %s", capital(kindName(b.Item.Type)), b.Item.Name)
}

// branch reads a node of the tree. Errors: *refused.
func (c *Console) branch(r *http.Request, kind, id string) (*branch, error) {
	b := &branch{Path: Root + "data"}
	if r.Method == http.MethodGet {
		b.Find, b.order = strings.TrimSpace(r.URL.Query().Get("find")), orderOf(r.URL.Query().Get("sort"))
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
	if kind == "advertisers" && b.Find == "" && r.URL.Query().Get("campaigns") == "" {
		b.Spent = b.Lists[0].spent()
	}
	return b, nil
}

// itemOf reads an entity of a kind that is found by its id, without its owner.
func (c *Console) itemOf(r *http.Request, kind, id string) (*api.Item, error) {
	v, err := get[api.ItemAnswer](c, r, "/v1/"+kind+"/"+url.PathEscape(id))
	if err != nil {
		return nil, err
	}
	return &v.Item, nil
}

// owners reads the owners of an entity, and notes which of them are paused.
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
			b.Stopped = append(b.Stopped, fmt.Sprintf("%s %s", kindName(it.Type), it.Name))
		}
	}
	return nil
}

// spent returns what campaigns have spent today, or nil if the list does not have all of them or one has no figure.
func (l *branchList) spent() *uint64 {
	if l.Next != "" || l.Hidden > 0 || len(l.Items) == 0 {
		return nil
	}
	sum := uint64(0)
	for i := range l.Items {
		if l.Items[i].SpentMicros == nil {
			return nil
		}
		sum += *l.Items[i].SpentMicros
	}
	return &sum
}

// list reads the children of one kind: one page of them or, to search or sort them, up to seenPages pages.
func (c *Console) list(r *http.Request, b *branch, kind, by string) (*branchList, error) {
	q := url.Values{"limit": {strconv.Itoa(shownItems)}}
	if b.Item != nil {
		q.Set(by, strconv.FormatUint(b.Item.ID, 10))
	}
	sorted := b.order.kind == kind
	if b.Find != "" || sorted {
		q.Set("limit", strconv.Itoa(pageItems))
	}
	if at := r.URL.Query().Get(kind); at != "" && r.Method == http.MethodGet {
		q.Set("cursor", at)
	}
	out := &branchList{Kind: kind, Columns: b.columns(kind)}
	numbered := uint64(0) // the entity with the number that is searched for
	if _, err := strconv.ParseUint(b.Find, 10, 64); err == nil && b.Item == nil {
		if it, err := c.itemOf(r, kind, b.Find); err == nil { // found wherever it is in the list
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
		if b.Find == "" && !sorted || v.Next == "" || len(out.Items) >= shownItems && !sorted {
			break
		}
		q.Set("cursor", v.Next)
	}
	if sorted {
		all := len(out.Items)
		out.Items = b.order.sort(out.Items)
		out.Hidden = all - len(out.Items)
	}
	if out.Next != "" {
		out.Next = b.next(kind, out.Next)
	}
	return out, nil
}

// next returns the path of the page that goes on with a list.
func (b *branch) next(kind, cursor string) string {
	q := url.Values{"find": {b.Find}, kind: {cursor}}
	if b.order.kind == kind {
		q.Set("sort", b.order.String())
	}
	return b.Path + "?" + q.Encode()
}

// hasText reports whether an entity's name or texts contain `find`, or its number is `find`.
func hasText(it *api.Item, find string) bool {
	if find == "" || find == strconv.FormatUint(it.ID, 10) {
		return true
	}
	texts := append([]string{it.Name, it.Text, it.FinalURL}, it.Headlines...)
	text := strings.ToLower(strings.Join(append(texts, it.Descriptions...), "\n"))
	return strings.Contains(text, strings.ToLower(find))
}

// capital begins a text with a capital letter. It leaves a text as it is that does not begin with a letter of ASCII.
func capital(s string) string {
	if s == "" || s[0] >= utf8.RuneSelf {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// kindName returns what people call an entity, or entities, of a kind.
func kindName[T ~string](kind T) string {
	if strings.HasPrefix(string(kind), "group") {
		return "ad " + string(kind)
	}
	return string(kind)
}

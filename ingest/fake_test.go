package ingest_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
)

// fakeStore keeps entities in maps by their natural keys. It implements only the methods that an import uses, with
// the rules of a database in the plainest form.
type fakeStore struct {
	backend.Store // nil: all other methods panic
	clock         uint64
	rows          map[string]string // key: value; keys nest by \x1f
	ids           map[string]uint64
	paths         map[uint64]string
	holds         map[string]backend.Hold
	created       uint64 // number of ids given
	commits       int
	failCommit    error
}

func newFakeStore() *fakeStore {
	return &fakeStore{rows: map[string]string{}, ids: map[string]uint64{}, paths: map[uint64]string{}, holds: map[string]backend.Hold{}}
}

func (s *fakeStore) Newest(context.Context) (backend.Position, error) {
	return backend.Position{Clock: s.clock}, nil
}

func (s *fakeStore) Changes(context.Context, backend.Position, int) ([]backend.Change, error) {
	return nil, nil
}

func (s *fakeStore) Begin(context.Context) (backend.Tx, error) {
	return &fakeTx{s: s, old: maps.Clone(s.rows), oldHolds: maps.Clone(s.holds), oldIDs: maps.Clone(s.ids), oldCreated: s.created}, nil
}

// Snapshot returns a snapshot that has only groups, with the properties that tell whether their keywords have a bid.
func (s *fakeStore) Snapshot(context.Context) (backend.Snapshot, error) {
	return fakeSnapshot{s: s}, nil
}

type fakeSnapshot struct {
	backend.Snapshot // nil: all other methods panic
	s                *fakeStore
}

func (f fakeSnapshot) Close() error { return nil }

func (f fakeSnapshot) Items(_ context.Context, ids []uint64) (list []*backend.Item, _ error) {
	for _, id := range ids {
		path := f.s.paths[id]
		it := &backend.Item{Group: backend.Group{ID: id, Name: path[strings.LastIndex(path, sep)+1:], GroupSettings: backend.GroupSettings{HasBid: strings.Contains(f.s.rows[path], "bid=")}}}
		for _, key := range slices.Sorted(maps.Keys(f.s.rows)) {
			if rest, ok := strings.CutPrefix(key, path+sep); ok && !strings.HasPrefix(rest, "-") && !strings.HasPrefix(rest, "ad ") {
				name, words, _ := strings.Cut(rest, " ")
				types := []search.MatchType{search.Exact, search.Phrase, search.Broad}
				is := slices.IndexFunc(types, func(t search.MatchType) bool { return t.String() == name })
				it.Keywords = append(it.Keywords, backend.Keyword{Text: words, Type: types[is], KeywordSettings: backend.KeywordSettings{HasBid: strings.Contains(f.s.rows[key], "bid="), Enabled: strings.Contains(f.s.rows[key], "status=enabled")}})
			}
		}
		list = append(list, it)
	}
	return list, nil
}

// Document implements backend.Documents: the store has none.
func (*fakeStore) Document(context.Context, string) (backend.Document, error) {
	return backend.Document{}, fault.Newf(fault.NotFound, "read", "no document")
}

// dump returns all entities, one a line.
func (s *fakeStore) dump() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(s.rows)) {
		fmt.Fprintf(&b, "%s = %s\n", strings.ReplaceAll(strings.TrimPrefix(k, sep), sep, " / "), s.rows[k])
	}
	return b.String()
}

func (n fakeSnapshot) names(id uint64) []string { return strings.Split(n.s.paths[id], sep)[1:] }

func (n fakeSnapshot) Advertisers(_ context.Context, ids []uint64) ([]*backend.Advertiser, error) {
	return []*backend.Advertiser{{ID: ids[0], Name: n.names(ids[0])[0]}}, nil
}

func (n fakeSnapshot) Campaigns(_ context.Context, ids []uint64) ([]*backend.Campaign, error) {
	names := n.names(ids[0])
	return []*backend.Campaign{{ID: ids[0], Name: names[1], AdvertiserID: n.s.ids[sep+names[0]]}}, nil
}

const sep = "\x1f"

type fakeTx struct {
	backend.Tx // nil: all other methods panic
	s          *fakeStore
	old        map[string]string
	oldIDs     map[string]uint64
	oldHolds   map[string]backend.Hold
	oldCreated uint64
	changed    bool
	watch      backend.Watcher
}

func (t *fakeTx) id(key string) uint64 {
	if id := t.s.ids[key]; id != 0 {
		return id
	}
	t.s.created++
	t.s.ids[key] = t.s.created
	t.s.paths[t.s.created] = key
	return t.s.created
}

func (t *fakeTx) set(key, value string) {
	if t.s.rows[key] != value {
		t.s.rows[key] = value
		t.changed = true
	}
}

func (t *fakeTx) remove(key string) {
	for k := range t.s.rows {
		if k == key || strings.HasPrefix(k, key+sep) {
			delete(t.s.rows, k)
			delete(t.s.ids, k)
			delete(t.s.holds, k)
			t.changed = true
		}
	}
}

// write merges patches into the stored "name=value" list.
func (t *fakeTx) write(key string, status backend.Status, fields map[string]string) uint64 {
	if status == backend.Remove {
		t.remove(key)
		return 0
	}
	merged := map[string]string{"status": "enabled"}
	for _, pair := range strings.Split(t.s.rows[key], " ") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			merged[name] = value
		}
	}
	if status == backend.Pause {
		merged["status"] = "paused"
	} else if status == backend.Enable {
		merged["status"] = "enabled"
	}
	maps.Copy(merged, fields)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		if merged[name] != "" {
			out = append(out, name+"="+merged[name])
		}
	}
	id := t.id(key)
	t.set(key, strings.Join(out, " "))
	return id
}

// shortNames maps the names of some properties in Go to those in dumps; other properties keep their name in Go.
var shortNames = map[string]string{"DailyBudget": "budget", "RotateEvenly": "even", "StandardDelivery": "standard", "Languages": "lang", "TimeZone": "zone"}

// addPatches adds the properties that a patch, a pointer to a struct, sets or resets.
func addPatches(f map[string]string, patch any) {
	v := reflect.ValueOf(patch).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).Kind() == reflect.Array {
			for j := range v.Field(i).Len() {
				addPatch(f, fmt.Sprintf("mod%d", j), v.Field(i).Index(j))
			}
		}
		addPatch(f, cmp.Or(shortNames[name], strings.ToLower(name)), v.Field(i))
	}
}

func addPatch(f map[string]string, name string, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	switch v.FieldByName("Op").Interface() {
	case backend.Set:
		f[name] = strings.ReplaceAll(fmt.Sprint(v.FieldByName("Value")), " ", ",")
	case backend.Reset:
		f[name] = ""
	}
}

// addHold adds the hold of an owner.
func (t *fakeTx) addHold(fields map[string]string, key string, change backend.HoldChange) {
	if change == nil {
		return
	}
	_, there := t.s.rows[key]
	now := change.Change(t.s.holds[key], !there)
	t.s.holds[key] = now
	fields["hold"] = holdText(now)
}

func holdText(h backend.Hold) string { return strings.Join(h.Reasons(), ",") }

func (t *fakeTx) Held(_ context.Context, q backend.HeldQuery, after uint64, limit int, change func(backend.Held) backend.Hold) (n int, err error) {
	for _, id := range slices.Sorted(maps.Keys(t.s.paths)) {
		key := t.s.paths[id]
		h, depth := t.s.holds[key], strings.Count(key, sep)
		if _, there := t.s.rows[key]; !there || t.s.ids[key] != id || id <= after || n >= limit || (depth == 3) != q.Groups || depth < 2 || depth > 3 {
			continue
		}
		owner := t.s.ids[key[:strings.LastIndex(key, sep)]]
		if q.Import != 0 && h.Import() == q.Import || q.Any && h != 0 || q.ID == id || q.Free != 0 && owner == q.Free && h == 0 {
			n++
			h = change(backend.Held{ID: id, Owner: owner, Name: key[strings.LastIndex(key, sep)+1:], Hold: h})
			t.s.holds[key] = h
			t.write(key, backend.Keep, map[string]string{"hold": holdText(h)})
		}
	}
	return n, nil
}

func (t *fakeTx) Rename(_ context.Context, _ backend.Entity, owner uint64, from, to string) (uint64, error) {
	was, is := t.s.paths[owner]+sep+from, t.s.paths[owner]+sep+to
	id := t.s.ids[was]
	for _, key := range slices.Sorted(maps.Keys(t.s.rows)) {
		if rest, ok := strings.CutPrefix(key, was); ok && (rest == "" || strings.HasPrefix(rest, sep)) {
			t.set(is+rest, t.s.rows[key])
			t.s.ids[is+rest], t.s.paths[t.s.ids[key]] = t.s.ids[key], is+rest
			delete(t.s.rows, key)
			delete(t.s.ids, key)
		}
	}
	return id, nil
}

// named notes that the transaction names an owner.
func (t *fakeTx) named(entity backend.Entity, id uint64) uint64 {
	if id != 0 {
		t.watch(entity, id, backend.Named)
	}
	return id
}

func (t *fakeTx) Locations(context.Context, uint64, string) (string, error) { return "", nil }

func (t *fakeTx) Lock(context.Context, backend.Kind, uint64) error { return nil }

func (t *fakeTx) Expect(context.Context, string, []byte) error { return nil }

func (t *fakeTx) Receipt(context.Context, string, []byte, time.Time) error { return nil }

func (t *fakeTx) Advertiser(_ context.Context, name string) (uint64, error) {
	return t.write(sep+name, backend.Keep, nil), nil
}

func (t *fakeTx) UpdateAdvertiser(_ context.Context, id uint64, a backend.AdvertiserPatch) error {
	f := map[string]string{}
	addPatches(f, &a)
	t.write(t.s.paths[id], a.Status, f)
	return nil
}

func (t *fakeTx) Campaign(_ context.Context, advertiser uint64, name string, c backend.CampaignPatch) (uint64, error) {
	f := map[string]string{}
	t.addHold(f, t.s.paths[advertiser]+sep+name, c.Hold)
	addPatches(f, &c)
	return t.named(backend.EntityCampaign, t.write(t.s.paths[advertiser]+sep+name, c.Status, f)), nil
}

func (t *fakeTx) Group(_ context.Context, campaign uint64, name string, g backend.GroupPatch) (uint64, error) {
	f := map[string]string{}
	t.addHold(f, t.s.paths[campaign]+sep+name, g.Hold)
	addPatches(f, &g)
	return t.named(backend.EntityGroup, t.write(t.s.paths[campaign]+sep+name, g.Status, f)), nil
}

func (t *fakeTx) Keyword(_ context.Context, group uint64, k backend.KeywordPatch) error {
	f := map[string]string{"text": strings.ReplaceAll(k.Text, " ", "_")}
	addPatches(f, &k)
	t.write(fmt.Sprintf("%s%s%s %s", t.s.paths[group], sep, k.Type, k.Words), k.Status, f)
	return nil
}

func (t *fakeTx) Negative(_ context.Context, o backend.NegativeOwner, n backend.NegativePatch) error {
	owner := t.s.paths[o.Campaign]
	switch {
	case o.Group != 0:
		owner = t.s.paths[o.Group]
	case o.Campaign == 0:
		owner = t.s.paths[o.Advertiser]
	}
	t.write(fmt.Sprintf("%s%s-%s %s", owner, sep, n.Type, n.Words), n.Status, nil)
	return nil
}

func (t *fakeTx) Ad(_ context.Context, group uint64, a backend.AdPatch) error {
	t.write(fmt.Sprintf("%s%sad %q %q %q %q %q", t.s.paths[group], sep, a.Headlines, a.Descriptions, a.Path1, a.Path2, a.FinalURL), a.Status, nil)
	return nil
}

func (t *fakeTx) find(key string) (uint64, error) {
	if _, ok := t.s.rows[key]; !ok {
		return 0, nil
	}
	return t.s.ids[key], nil
}

func (t *fakeTx) FindAdvertiser(_ context.Context, name string) (uint64, error) {
	return t.find(sep + name)
}

func (t *fakeTx) FindCampaign(_ context.Context, advertiser uint64, name string) (uint64, error) {
	return t.find(t.s.paths[advertiser] + sep + name)
}

func (t *fakeTx) FindGroup(_ context.Context, campaign uint64, name string) (uint64, error) {
	return t.find(t.s.paths[campaign] + sep + name)
}

// Watch keeps the watcher, since holds depend on the owners that a transaction names. Names returns none: names are
// compared in tests with a database.
func (t *fakeTx) Watch(w backend.Watcher) { t.watch = w }

func (t *fakeTx) Names(context.Context, uint64, int) ([]string, error) { return nil, nil }

func (t *fakeTx) Commit(context.Context) error {
	if t.s.failCommit != nil {
		return t.s.failCommit
	}
	t.s.commits++
	if t.changed {
		t.s.clock++
	}
	t.old = nil
	return nil
}

func (t *fakeTx) Rollback() error {
	if t.old != nil {
		t.s.rows, t.s.ids, t.s.holds, t.s.created = t.old, t.oldIDs, t.oldHolds, t.oldCreated
		t.old = nil
	}
	return nil
}

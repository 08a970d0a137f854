package sqlite

import (
	"reflect"
	"testing"

	"adshard/backend"
	"adshard/backend/upsert"
)

// TestEachPropertyIsSummed: a change of any property changes the sum of its entity, so that damage to it is found.
func TestEachPropertyIsSummed(t *testing.T) {
	var h hasher
	key := upsert.Phrase{Words: "a"}
	eachChange(t, backend.NewAdvertiser(), func(v *backend.AdvertiserSettings) sum { return h.advertiser(7, "A", v) })
	eachChange(t, backend.NewCampaign(), func(v *backend.CampaignSettings) sum { return h.campaign(7, 1, "C", v) })
	eachChange(t, backend.NewGroup(), func(v *backend.GroupSettings) sum { return h.group(7, 1, "G", v) })
	eachChange(t, backend.NewKeyword(), func(v *backend.KeywordSettings) sum { return h.keyword(1, 7, key, "A", v) })
}

// eachChange gives each field, and each part of a field, two other values; all sums must be different.
func eachChange[V comparable](t *testing.T, normal V, of func(*V) sum) {
	t.Helper()
	seen := map[sum]V{of(&normal): normal}
	v := normal
	var walk func(reflect.Value)
	walk = func(part reflect.Value) {
		switch part.Kind() {
		case reflect.Struct:
			for i := range part.NumField() {
				walk(part.Field(i))
			}
			return
		case reflect.Array:
			for i := range part.Len() {
				walk(part.Index(i))
			}
			return
		}
		was := reflect.ValueOf(part.Interface())
		for n := range 2 {
			switch part.Kind() {
			case reflect.Bool:
				part.SetBool(!was.Bool())
			case reflect.String:
				part.SetString([]string{"other", "another"}[n])
			default:
				part.SetUint(was.Uint() + uint64(n) + 1)
			}
			s := of(&v)
			if other, ok := seen[s]; ok && other != v {
				t.Errorf("%+v and %+v have the sum %x", v, other, s)
			}
			seen[s] = v
		}
		part.Set(was)
	}
	walk(reflect.ValueOf(&v).Elem())
}

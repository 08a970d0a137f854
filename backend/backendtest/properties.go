package backendtest

import (
	"reflect"

	"pgregory.net/rapid"

	"adshard/backend"
)

// patched applies a patch to the settings v, a pointer to a struct, independently of the tested code: it matches fields by name.
// normal has the defaults.
func patched[S any](v *S, normal S, patch any) {
	to, from, p := reflect.ValueOf(v).Elem(), reflect.ValueOf(normal), reflect.ValueOf(patch)
	for i := range p.NumField() {
		name := p.Type().Field(i).Name
		switch f := p.Field(i); {
		case f.Kind() == reflect.Array:
			for j := range f.Len() {
				modify(to.FieldByName(name).Index(j).Addr().Interface().(*backend.Modifier), f.Index(j).Interface().(backend.Patch[uint16]))
			}
		case f.Kind() != reflect.Struct:
		case f.FieldByName("Op").Interface() == backend.Set:
			to.FieldByName(name).Set(f.FieldByName("Value"))
			if has, ok := hasNames[name]; ok {
				to.FieldByName(has).SetBool(true)
			}
		case f.FieldByName("Op").Interface() == backend.Reset:
			to.FieldByName(name).Set(from.FieldByName(name))
			if has, ok := hasNames[name]; ok {
				to.FieldByName(has).SetBool(false)
			}
		}
	}
}

// hasNames are the fields that say whether a number is set, by the number's field.
var hasNames = map[string]string{"DailyBudget": "HasBudget", "Bid": "HasBid"}

func modify(m *backend.Modifier, p backend.Patch[uint16]) {
	switch p.Op {
	case backend.Set:
		*m = backend.Modifier{Set: true, Permille: p.Value}
	case backend.Reset:
		*m = backend.Modifier{}
	}
}

// values lists some values of a field, by the name or the type of the field.
var values = map[string]any{
	"TimeZone":  []string{"UTC", "Europe/Prague", "Asia/Tokyo"},
	"StartDate": []string{"2026-03-31", "1999-12-31"}, "EndDate": []string{"2026-03-31", "2100-02-28"},
	"Schedule":   []string{`[{"day":"monday","from":"08:00","to":"18:15","modifier_percent":-12.5}]`, `[{"day":"sunday","from":"00:00","to":"24:00"}]`},
	"Locations":  []string{`[{"id":2203,"modifier_percent":-10},{"id":2840,"exclude":true}]`, `[{"lat":50.087,"lon":14.421,"radius_m":15000}]`},
	"Audiences":  []string{`{"target":[{"id":"a"}],"exclude":[{"id":"b"}]}`, `{"observe":[{"id":"ž","modifier_percent":30}]}`},
	"Sites":      []string{`{"include":[{"site":"a.example/x","modifier_percent":10}]}`, `{"exclude":[{"site":"b.example"}]}`},
	"Categories": []string{`["alcohol/wine"]`, `["a","b"]`},
	"uint64":     []uint64{0, 1, 2}, "uint16": []uint16{0, 1000, 10000}, "uint8": []uint8{1, 5, 10}, "bool": []bool{true, false},
	"backend.Languages": []backend.Languages{"en", "cs en", ""}, "string": []string{"", "x", "https://a.example/"},
	"backend.Learned": []backend.Learned{backend.NewLearned(5, 0, 0, 0), backend.NewLearned(10, 4, 1<<31, 9)},
}

// draw draws a change for each property of a patch, a pointer to a struct.
func draw(rt *rapid.T, patch any) {
	v := reflect.ValueOf(patch).Elem()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.Kind() == reflect.Array {
			f = f.Index(rapid.IntRange(0, f.Len()-1).Draw(rt, "device"))
		}
		if f.Kind() != reflect.Struct {
			continue
		}
		some, ok := values[name]
		if !ok {
			some = values[f.FieldByName("Value").Type().String()]
		}
		switch rapid.IntRange(0, 3).Draw(rt, name) {
		case 0:
			f.FieldByName("Op").Set(reflect.ValueOf(backend.Reset))
		case 1:
			list := reflect.ValueOf(some)
			f.FieldByName("Op").Set(reflect.ValueOf(backend.Set))
			f.FieldByName("Value").Set(list.Index(rapid.IntRange(0, list.Len()-1).Draw(rt, name)))
		}
	}
}

package targeting

import "testing"

// TestForms has JSON values as people write them with their canonical forms, or "" if they are
// refused.
func TestForms(t *testing.T) {
	schedule := func(s string) (string, error) { v, err := ParseSchedule([]byte(s)); return v.JSON(), err }
	locations := func(s string) (string, error) { v, err := ParseLocations([]byte(s)); return v.JSON(), err }
	audiences := func(s string) (string, error) { v, err := ParseAudiences([]byte(s)); return v.JSON(), err }
	sites := func(s string) (string, error) { v, err := ParseSites([]byte(s)); return v.JSON(), err }
	categories := func(s string) (string, error) { v, err := ParseCategories([]byte(s)); return v.JSON(), err }
	for _, c := range []struct {
		parse    func(string) (string, error)
		in, want string
	}{
		{schedule, `[{"day":"Sunday","from":"00:00","to":"24:00"},{"day":"monday","from":"08:15","to":"18:00","modifier_percent":-12.50}]`,
			`[{"day":"monday","from":"08:15","to":"18:00","modifier_percent":-12.5},{"day":"sunday","from":"00:00","to":"24:00"}]`},
		{schedule, `[{"day":"monday","from":"08:00","to":"12:00"},{"day":"monday","from":"11:00","to":"13:00"}]`, ""},
		{schedule, `[{"day":"monday","from":"08:10","to":"12:00"}]`, ""},
		{schedule, `[{"day":"monday","from":"24:00","to":"24:00"}]`, ""},
		{schedule, `[{"day":"mon","from":"08:00","to":"12:00"}]`, ""},
		{schedule, `[{"day":"monday","from":"08:00","to":"12:00","modifier_percent":900.1}]`, ""},
		{schedule, `[{"day":"monday","from":"08:00","to":"12:00","modifier_percent":1e1}]`, ""},
		{schedule, `[{"day":"monday","day":"monday","from":"08:00","to":"12:00"}]`, ""},
		{schedule, `{}`, ""},
		{locations, `[{"id":2840,"exclude":true},{"lat":50.0870,"lon":-14.4,"radius_m":15000},{"id":2203,"modifier_percent":-10}]`,
			`[{"lat":50.087,"lon":-14.4,"radius_m":15000},{"id":2203,"modifier_percent":-10},{"id":2840,"exclude":true}]`},
		{locations, `[{"id":2203,"exclude":true},{"id":2203}]`, `[{"id":2203},{"id":2203,"exclude":true}]`},
		{locations, `[{"id":2203},{"id":2203,"modifier_percent":10}]`, ""},
		{locations, `[{"id":0}]`, ""},
		{locations, `[{"id":4294967296}]`, ""},
		{locations, `[{"id":2203,"lat":1,"lon":1,"radius_m":100}]`, ""},
		{locations, `[{"lat":50.1234567,"lon":1,"radius_m":100}]`, ""},
		{locations, `[{"lat":50,"lon":1,"radius_m":99}]`, ""},
		{locations, `[{"lat":50,"lon":1,"radius_m":100.5}]`, ""},
		{locations, `[{"id":2203,"exclude":true,"modifier_percent":10}]`, ""},
		{locations, `[{"id":2203,"colour":"red"}]`, ""},
		{audiences, `{"target":[{"id":"b"},{"id":"a","modifier_percent":30}],"exclude":[{"id":"a"}]}`,
			`{"target":[{"id":"a","modifier_percent":30},{"id":"b"}],"exclude":[{"id":"a"}]}`},
		{audiences, `{"target":[{"id":"a"},{"id":"a"}]}`, ""},
		{audiences, `{"exclude":[{"id":"a","modifier_percent":1}]}`, ""},
		{audiences, `{"target":[{"id":" a"}]}`, ""},
		{sites, `{"include":[{"site":"www.B.example/x/"},{"site":"a.example","modifier_percent":0}]}`,
			`{"include":[{"site":"a.example"},{"site":"b.example/x"}]}`},
		{sites, `{"include":[{"site":"a.example"},{"site":"www.a.example"}]}`, ""},
		{categories, `["b","a/b","b"]`, `["a/b","b"]`},
		{categories, `["A"]`, ""},
		{categories, `["a//b"]`, ""},
	} {
		got, err := c.parse(c.in)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %s, %v, want %s", c.in, got, err, c.want)
		}
		if again, err := c.parse(got); c.want != "" && (again != got || err != nil) {
			t.Errorf("%s again: %s, %v", got, again, err)
		}
	}
	for _, parse := range []func(string) (string, error){schedule, locations, audiences, sites, categories} {
		if got, err := parse("null"); got != "" || err != nil {
			t.Errorf("null: %q, %v", got, err)
		}
	}
}

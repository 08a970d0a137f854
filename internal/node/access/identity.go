package access

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adshard/fault"
)

// Role is the role of a caller, which decides the calls that it may make.
type Role string

// The roles.
const (
	Master      Role = "master"
	Slave       Role = "slave"
	Distributor Role = "distributor"
	Balancer    Role = "balancer"
	Collector   Role = "collector"
	Operator    Role = "operator" // changes things through admin ports
	Reader      Role = "reader"   // looks at admin ports
)

// Roles returns all roles.
func Roles() []Role { return []Role{Master, Slave, Distributor, Balancer, Collector, Operator, Reader} }

// Processes returns the roles of programs that listen.
func Processes() []Role { return []Role{Master, Slave, Distributor, Balancer, Collector} }

// ParseRole returns the role with a name. Errors: fault.Invalid.
func ParseRole(name string) (Role, error) {
	if r := Role(name); slices.Contains(Roles(), r) {
		return r, nil
	}
	return "", fault.Newf(fault.Invalid, op, "%q is not a role; the roles are %v", name, Roles())
}

const op = "access"

// Identity is the identity of a caller: a role in a cluster, and a name in that role. The
// zero value is an unknown caller.
type Identity struct {
	Cluster string
	Role    Role
	Name    string
}

// Known reports whether the caller is known.
func (i Identity) Known() bool { return i.Role != "" }

// String returns "ROLE NAME", for logs, or "ROLE" if the identity has no name.
func (i Identity) String() string {
	switch {
	case !i.Known():
		return "somebody unknown"
	case i.Name == "":
		return string(i.Role)
	}
	return string(i.Role) + " " + i.Name
}

const scheme = "adshard"

// URI returns the identity in the form that certificates use: adshard://CLUSTER/ROLE/NAME.
func (i Identity) URI() *url.URL {
	return &url.URL{Scheme: scheme, Host: i.Cluster, Path: "/" + string(i.Role) + "/" + i.Name}
}

// ParseURI returns the identity of a URI. Errors: fault.Invalid for a URI in any other form than
// that of URI.
func ParseURI(u *url.URL) (Identity, error) {
	role, name, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	i := Identity{Cluster: u.Host, Role: Role(role), Name: name}
	if err := i.Check(); err != nil || u.String() != i.URI().String() {
		return Identity{}, fault.Newf(fault.Invalid, op, "%q is not an identity; one is %s://CLUSTER/ROLE/NAME", u, scheme)
	}
	return i, nil
}

// MaxName bounds the names of clusters and identities, in bytes.
const MaxName = 100

// Check returns an error if the identity is not valid. Errors: fault.Invalid.
func (i Identity) Check() error {
	if err := CheckName("cluster", i.Cluster); err != nil {
		return err
	}
	if _, err := ParseRole(string(i.Role)); err != nil {
		return err
	}
	return CheckName("name", i.Name)
}

// CheckName returns an error if `name` cannot name a cluster or an identity: names are part of URIs
// and of file names. Errors: fault.Invalid with the field.
func CheckName(field, name string) error {
	bad := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	}
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) || name[0] == '.' {
		return fault.Field(op, field, "%q cannot be a name: write 1 to %d of a-z, A-Z, 0-9, '.', '_', '-', not '.' at first",
			name, MaxName)
	}
	return nil
}

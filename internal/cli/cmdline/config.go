package cmdline

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"adshard/fault"
	"adshard/internal/node/config"
)

// configFlags gives a command a flag for every key of a configuration, and --config, --print-config and
// --check-config. Values are taken from the defaults, the file, the environment and the flags; later ones override
// earlier ones.
type configFlags struct {
	into  any // pointer to the configuration, which holds the defaults
	file  string
	show  bool
	check bool
	given []*configValue // first those from the command line, in its order, then those from the environment
}

// addConfig adds the flags for the configuration `into`, a pointer to a struct with yaml tags. help describes the
// keys, by the names of their flags.
func addConfig(c *cobra.Command, into any, help map[string]string) *configFlags {
	f := &configFlags{into: into}
	f.add(c.Flags(), "", "", reflect.ValueOf(into).Elem(), help)
	c.Flags().StringVar(&f.file, "config", "", "read the configuration from this YAML file; flags take precedence")
	c.Flags().BoolVar(&f.show, "print-config", false, "print the resulting configuration and exit")
	c.Flags().BoolVar(&f.check, "check-config", false, "check files and databases as a start would, and exit; nothing is changed")
	return f
}

// add adds the flags of a struct. `path` is the prefix of its keys, and `prefix` that of its flags.
func (f *configFlags) add(flags *pflag.FlagSet, path, prefix string, v reflect.Value, help map[string]string) {
	for i := range v.NumField() {
		tag, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if tag == "-" || tag == "" && options != "inline" || !v.Type().Field(i).IsExported() {
			continue
		}
		field := v.Field(i)
		if options == "inline" {
			f.add(flags, path, prefix, field, help)
			continue
		}
		name := prefix + strings.ReplaceAll(tag, "_", "-")
		if field.Kind() == reflect.Struct {
			f.add(flags, path+tag+".", name+"-", field, help)
			continue
		}
		if field.Kind() == reflect.Map {
			continue // can be set only in the file
		}
		value := &configValue{flags: f, key: path + tag, field: field}
		added := flags.VarPF(value, name, "", help[name])
		if field.Kind() == reflect.Bool {
			added.NoOptDefVal = "true"
		}
	}
}

// load reads the file, which overrides the defaults, and then applies the flags, which override both. Invalid keys
// and values are usage errors.
func (f *configFlags) load() error {
	if f.file != "" {
		if err := config.Load(f.file, f.into); err != nil {
			return Usage(err)
		}
	}
	for _, v := range f.given {
		v.field.Set(reflect.Zero(v.field.Type()))
		if err := v.decode(v.field); err != nil {
			return Usage(err)
		}
	}
	return nil
}

// faulty returns the error for a faulty configuration, with the line of each fault in the file. A key that was set by
// a flag has no line.
func (f *configFlags) faulty(err error) error {
	if f.file != "" {
		err = config.AtLines(f.file, err, func(key string) bool {
			return slices.ContainsFunc(f.given, func(v *configValue) bool { return v.key == key })
		})
	}
	return Usage(err)
}

// configValue is the flag of one key. It keeps its text, since the file is read later and the flag takes precedence.
type configValue struct {
	flags *configFlags
	key   string // with dots between the parts
	field reflect.Value
	text  string
}

// Set implements pflag.Value.
func (v *configValue) Set(text string) error {
	v.text = text
	trial := reflect.New(v.field.Type()).Elem()
	if err := v.decode(trial); err != nil {
		return err
	}
	v.flags.given = append(v.flags.given, v)
	return nil
}

// String implements pflag.Value. It returns the default as the help shows it.
func (v *configValue) String() string {
	if v == nil || !v.field.IsValid() || v.field.IsZero() {
		return ""
	}
	if v.field.Kind() == reflect.Slice {
		return strings.Trim(fmt.Sprint(v.field.Interface()), "[]")
	}
	return fmt.Sprint(v.field.Interface())
}

// Type implements pflag.Value.
func (v *configValue) Type() string {
	switch v.field.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Slice:
		return "list"
	case reflect.String:
		return "string"
	}
	return strings.TrimPrefix(strings.ToLower(v.field.Type().String()), "time.")
}

// decode decodes the text as YAML would decode the key's value. The elements of a list are separated by commas.
func (v *configValue) decode(to reflect.Value) error {
	switch v.field.Kind() {
	case reflect.String:
		to.SetString(v.text)
		return nil
	case reflect.Slice:
		return yaml.Unmarshal([]byte("["+v.text+"]"), to.Addr().Interface())
	}
	err := yaml.Unmarshal([]byte(v.text), to.Addr().Interface())
	if err == nil {
		err = config.CheckWhole([]byte(v.text), to.Type())
	}
	if fault.Is(err, fault.Invalid) { // the type says by itself what is allowed
		return err
	}
	if text, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok && v.text == "" {
		return text.UnmarshalText(nil) // YAML takes it for null, which changes nothing
	}
	if err != nil || v.text == "" {
		return fmt.Errorf("%q is not a valid %s", v.text, v.Type())
	}
	return nil
}

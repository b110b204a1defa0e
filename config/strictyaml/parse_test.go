package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// A text that is not one document is one problem, whatever is missing in it.
func TestTextThatIsNotOneDocument(t *testing.T) {
	const check = "Check quotes, brackets and indentation near this line."
	rows := []struct {
		name, file string
		line       int
		message    string
		fix        string
	}{
		{"empty", "", 0, "The configuration is empty.", "Write at least one key."},
		{"comments only", "# nothing\n", 0, "The configuration is empty.", "Write at least one key."},
		{"not UTF-8", "name: \xff", 0, "The configuration is not UTF-8 text.", "Save it as UTF-8."},
		{"too large", strings.Repeat("#", strictyaml.MaxBytes+1), 0, "The configuration is larger than 4MiB.",
			"Shorten it."},
		{"second document", minimal + "---\nname: a\n", 3, "There is a second document.",
			"Remove the line --- and what follows it."},
		{"broken", "name: shop\nowner: {key_env: DOOR", 3,
			"The configuration is not valid YAML: did not find expected ',' or '}'.", check},
		{"broken second document", minimal + "---\n[", 5,
			"The configuration is not valid YAML: did not find expected node content.", check},
		{"unknown anchor", "name: *none", 1, "The configuration is not valid YAML: unknown anchor 'none' referenced.",
			check},
		{"only a list", "[a]", 1, "This is a section with keys, not a list.", "Write its keys below it, indented."},
		{"only text", "a", 1, "This is a section with keys, not text.", "Write its keys below it, indented."},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			want := strictyaml.Problem{Line: row.line, Message: row.message, Fix: row.fix}
			require.Equal(t, []strictyaml.Problem{want}, problemsOf(t, row.file))
		})
	}
}

func TestTheLargestFileIsRead(t *testing.T) {
	require.Empty(t, problemsOf(t, minimal+strings.Repeat("#", strictyaml.MaxBytes-len(minimal))))
}

func TestTheCallerSaysWhatToWriteIntoAnEmptyFile(t *testing.T) {
	_, report := strictyaml.Parse(nil, strictyaml.Options{IfEmpty: "Write a name."})
	require.ErrorContains(t, report.Err(""), "configuration: The configuration is empty.\n    fix: Write a name.")
}

// FuzzStruct: reading never panics, its problems are plain lines, and no secret is in them.
func FuzzStruct(f *testing.F) {
	for _, seed := range []string{
		minimal, whole, "name: &x [*x]", "items: &x [{id: a}, *x]", "owner: {<<: {}}", "{[a]: b}",
		"limits: {a: &b {id: c}, d: *b}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, report := strictyaml.Parse(data, strictyaml.Options{Env: environment, NoLookup: true})
		root.Struct(&shop{})
		err := report.Err("")
		if err == nil {
			return
		}
		for _, p := range problemsFrom(t, err) {
			require.NotEmpty(t, p.Message)
			require.NotEmpty(t, p.Fix)
			require.False(t, strings.ContainsAny(p.Path+p.Message+p.Fix, "\n\r\x00"), "%+v", p)
		}
	})
}

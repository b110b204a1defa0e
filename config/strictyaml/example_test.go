package strictyaml_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolboundary/toolboundary/config/strictyaml"
)

// Settings of a service that serves several rooms.
type Settings struct {
	Listen  string              `yaml:"listen" required:"true" doc:"host:port of the API."`
	Level   string              `yaml:"level" enum:"info|debug" doc:"How much is logged."`
	Timeout time.Duration       `yaml:"timeout" min:"10ms" max:"1h" doc:"Longest time of a request."`
	Body    strictyaml.ByteSize `yaml:"body" min:"1KiB" max:"16MiB" doc:"Largest request."`
	Rooms   []Room              `yaml:"rooms" doc:"The rooms."`
}

// Room is one room.
type Room struct {
	ID    string         `yaml:"id" required:"true" doc:"Id of the room."`
	Quota map[string]int `yaml:"quota" keys:"^[a-z]+$" form:"a guest's name" min:"0" doc:"Most visits, by guest."`
}

// Tags returns what is too long for the line of a field.
func (Room) Tags() strictyaml.Tags {
	return strictyaml.Tags{"id": `pattern:"^[a-z]{1,8}$" form:"1 to 8 small letters"`}
}

// A file with problems: all of them are reported at once.
func Example() {
	const file = `
listne: 127.0.0.1:8080
level: verbose
timeout: 2h
body: 64KB
rooms:
  - id: Attic
    quota: {ann: -1, Bob: 2}
  - quota: {ann: 5}
`
	settings := Settings{Level: "info", Timeout: 5 * time.Second, Body: 64 << 10} // the defaults
	root, report := strictyaml.Parse([]byte(file), strictyaml.Options{})
	root.Struct(&settings)
	if rooms := root.Key("rooms"); len(settings.Rooms) < 3 {
		rooms.Warn("There are few rooms.", "Add some.")
	}
	fmt.Println(report.Err("service.yaml"))
	for _, w := range report.Warnings() {
		fmt.Println("warning:", w.Text("service.yaml"))
	}
	// Output:
	// service.yaml: 8 problems
	// service.yaml:2: listne: There is no such key here.
	//     fix: Did you mean listen?
	// service.yaml:3: level: The value is not one of those that are allowed.
	//     fix: It is one of info, debug.
	// service.yaml:4: timeout: The value is too large.
	//     fix: Write at most 1h.
	// service.yaml:5: body: The value is not a size in bytes.
	//     fix: Write a whole number with a unit, such as 64KiB or 4MiB.
	// service.yaml:7: rooms[0].id: The value has a form that is not allowed.
	//     fix: Write 1 to 8 small letters.
	// service.yaml:8: rooms[0].quota.ann: The value is too small.
	//     fix: Write at least 0.
	// service.yaml:8: rooms[0].quota.Bob: The key has a form that is not allowed.
	//     fix: Write a guest's name.
	// service.yaml:9: rooms[1].id: The key is missing.
	//     fix: Add id: Id of the room.
	// warning: service.yaml:6: rooms: There are few rooms.
	//     fix: Add some.
}

// A file without problems. What it does not name keeps its default.
func ExampleNode_Struct() {
	const file = "listen: 127.0.0.1:8080\nrooms: [{id: attic}]\n"
	settings := Settings{Level: "info", Timeout: 5 * time.Second, Body: 64 << 10}
	root, report := strictyaml.Parse([]byte(file), strictyaml.Options{})
	root.Struct(&settings)
	fmt.Println(report.Err("service.yaml"))
	fmt.Printf("%+v\n", settings)
	// Output:
	// <nil>
	// {Listen:127.0.0.1:8080 Level:info Timeout:5s Body:64KiB Rooms:[{ID:attic Quota:map[]}]}
}

func ExampleSchema() {
	schema := strictyaml.Schema(&Room{})
	text, _ := json.MarshalIndent(schema.Properties["id"], "", "  ")
	fmt.Println(string(text))
	// Output:
	// {
	//   "type": "string",
	//   "description": "Id of the room.",
	//   "pattern": "^[a-z]{1,8}$"
	// }
}

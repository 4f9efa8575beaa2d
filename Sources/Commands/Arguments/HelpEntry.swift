/// A line of help: what is typed or returned, and what it means.
package typealias HelpEntry = (label: String, description: String)

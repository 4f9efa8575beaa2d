/** @type {PageFacts} */
const facts = JSON.parse(document.getElementById('page-facts')?.textContent ?? '{}');
export default facts;
